/**
 * The pod's own `/etc`, written afresh: of the machine's accounts, passwords, host keys and profile files nothing
 * gets into a pod.
 */

/** One file of the image: where it stands in the pod, what is in it, and its mode. */
export interface ImageFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

const PASSWD = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
bin:x:2:2:bin:/bin:/usr/sbin/nologin
sys:x:3:3:sys:/dev:/usr/sbin/nologin
man:x:6:12:man:/var/cache/man:/usr/sbin/nologin
mail:x:8:8:mail:/var/mail:/usr/sbin/nologin
_apt:x:100:65534::/nonexistent:/usr/sbin/nologin
sshd:x:101:65534::/run/sshd:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`;

const GROUP = `root:x:0:
daemon:x:1:
bin:x:2:
sys:x:3:
adm:x:4:
tty:x:5:
disk:x:6:
mail:x:8:
man:x:12:
shadow:x:42:
utmp:x:43:
staff:x:50:
users:x:100:
nogroup:x:65534:
`;

/** No account has a password: `*` can never match one, and root still gets in with a key. */
function locked(accounts: string): string {
  return accounts.trimEnd().split("\n").map((line) => `${line.slice(0, line.indexOf(":"))}:*:19000:0:99999:7:::\n`)
    .join("");
}

const LOGIN_DEFS = `MAIL_DIR /var/mail
ENV_SUPATH PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV_PATH PATH=/usr/local/bin:/usr/bin:/bin
UMASK 022
HOME_MODE 0700
UID_MIN 1000
UID_MAX 60000
GID_MIN 1000
GID_MAX 60000
USERGROUPS_ENAB yes
CREATE_HOME no
ENCRYPT_METHOD SHA512
`;

const PROFILE = `if [ "$(id -u)" -eq 0 ]; then
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
else
  PATH=/usr/local/bin:/usr/bin:/bin
fi
export PATH
for script in /etc/profile.d/*.sh; do
  if [ -r "$script" ]; then . "$script"; fi
done
unset script
`;

const BASH_BASHRC = `[ -z "$PS1" ] && return
shopt -s checkwinsize
PS1='\\u@\\h:\\w\\$ '
`;

const NSSWITCH = `passwd: files
group: files
shadow: files
gshadow: files
hosts: files dns
networks: files
protocols: files
services: files
`;

/** Debian's own defaults, and the address the container was given instead of port 22 of an interface of its own. */
function sshdConfig(port: number): string {
  return `Include /etc/ssh/sshd_config.d/*.conf
Port ${port}
ListenAddress 127.0.0.1
KbdInteractiveAuthentication no
UsePAM yes
X11Forwarding yes
PrintMotd no
AcceptEnv LANG LC_*
Subsystem sftp /usr/lib/openssh/sftp-server
`;
}

/** Who may open a session and what it gets; nothing here asks for a password that could be right. */
const PAM: Readonly<Record<string, string>> = {
  sshd: `auth required pam_deny.so
account required pam_nologin.so
account required pam_unix.so
session optional pam_loginuid.so
session optional pam_keyinit.so force revoke
session required pam_env.so readenv=1
session required pam_unix.so
password required pam_deny.so
`,
  su: `auth sufficient pam_rootok.so
auth required pam_unix.so
account required pam_unix.so
session required pam_env.so readenv=1
session required pam_unix.so
password required pam_deny.so
`,
  "su-l": `session optional pam_keyinit.so force revoke
auth include su
account include su
session include su
password include su
`,
  passwd: `auth sufficient pam_rootok.so
account required pam_unix.so
session required pam_permit.so
password required pam_unix.so sha512
`,
  other: `auth required pam_deny.so
account required pam_deny.so
session required pam_deny.so
password required pam_deny.so
`,
};

/** The files of `/etc` that do not depend on the kind of image. `port`: where this start's sshd listens. */
export function etcFiles(hostname: string, port: number): ImageFile[] {
  const plain: Record<string, string> = {
    passwd: PASSWD,
    group: GROUP,
    "login.defs": LOGIN_DEFS,
    "default/useradd": "SHELL=/bin/bash\n",
    profile: PROFILE,
    "bash.bashrc": BASH_BASHRC,
    "nsswitch.conf": NSSWITCH,
    hosts: `127.0.0.1 localhost ${hostname}\n`,
    hostname: `${hostname}\n`,
    motd: "",
    shells: "/bin/sh\n/bin/bash\n/usr/bin/sh\n/usr/bin/bash\n",
    environment: "",
    "security/pam_env.conf": "",
    "security/limits.conf": "",
    "ssh/sshd_config": sshdConfig(port),
    "skel/.profile": 'if [ -f "$HOME/.bashrc" ]; then . "$HOME/.bashrc"; fi\n',
    "skel/.bashrc": "",
  };
  for (const [service, text] of Object.entries(PAM)) plain[`pam.d/${service}`] = text;
  return [
    ...Object.entries(plain).map(([path, text]) => ({ path: `etc/${path}`, text, mode: 0o644 })),
    { path: "etc/shadow", text: locked(PASSWD), mode: 0o600 },
    { path: "etc/gshadow", text: "", mode: 0o600 },
  ];
}
