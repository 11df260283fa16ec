/** Numbers of SFTP version 3 (draft-ietf-secsh-filexfer-02) and the limits we keep to, whatever the server says. */

export const VERSION = 3;

export const INIT = 1;
export const VERSION_ANSWER = 2;
export const STATUS = 101;
export const HANDLE = 102;
export const DATA = 103;
export const NAME = 104;
export const ATTRIBUTES = 105;
export const EXTENDED_REPLY = 201;

/** Requests. */
export const OPEN = 3;
export const CLOSE = 4;
export const READ = 5;
export const WRITE = 6;
export const LSTAT = 7;
export const FSTAT = 8;
export const SETSTAT = 9;
export const FSETSTAT = 10;
export const OPENDIR = 11;
export const READDIR = 12;
export const REMOVE = 13;
export const MKDIR = 14;
export const RMDIR = 15;
export const REALPATH = 16;
export const STAT = 17;
export const RENAME = 18;
export const READLINK = 19;
export const EXTENDED = 200;

/** Status codes that are not errors by themselves. */
export const OK = 0;
export const END_OF_FILE = 1;

/** Flags of OPEN. */
export const FOR_READING = 1;
export const FOR_WRITING = 2;
export const CREATE = 8;
export const TRUNCATE = 16;
export const EXCLUSIVE = 32;

/** OpenSSH's own largest packet (SFTP_MAX_MSG_LENGTH); a longer one is refused before it is read. */
export const MAX_PACKET = 256 * 1024;
/** Largest block asked for or sent, as OpenSSH does: its largest packet less 1024. */
export const MAX_BLOCK = MAX_PACKET - 1024;
/** Every server takes blocks of this size (section 3 of the draft). */
export const SAFE_BLOCK = 32 * 1024;
/** Longest path and name; PATH_MAX of Linux. */
export const MAX_PATH = 4096;
/** Longest handle the draft allows. */
export const MAX_HANDLE = 256;
