/** An SFTP (version 3) client whose names are bytes and whose calls all settle, made for servers that may be hostile. */
export type {
  AttributeChanges,
  Attributes,
  CallOptions,
  DirectoryEntry,
  FileKind,
  FileSystemState,
  ListOptions,
  OpenMode,
  OpenOptions,
  ReadStreamOptions,
  Sftp,
  SftpFile,
  TransferOptions,
  WriteOptions,
} from "./interface.ts";
export { kindOf } from "./attributes.ts";
export { SftpError, type SftpErrorKind } from "./error.ts";
export { explainFailure } from "./explain_failure.ts";
export { fileError } from "./file_error.ts";
export { openSftp, type OpenSftpOptions } from "./open.ts";
