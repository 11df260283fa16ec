/** What the interactive shells of a pod read first: the officer's and the member's. */

const ALIASES = `alias ll='ls -alF --color=auto'
alias shared='cd /workspace/shared'
`;

/** `/etc/godfather/admin.bashrc`; the login program has set GODFATHER_USER. */
export const ADMIN_BASHRC = `[ -f /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -f /root/.bashrc ] && . /root/.bashrc
[ -f /etc/profile.d/pod-env.sh ] && . /etc/profile.d/pod-env.sh
PS1='\\[\\e[1;31m\\]\${GODFATHER_USER}@\\h\\[\\e[0m\\]:\\[\\e[1;34m\\]\\w\\[\\e[0m\\]# '
${ALIASES}alias workspace='cd "/workspace/users/$GODFATHER_USER"'
`;

/** `/etc/godfather/user.bashrc`. */
export const USER_BASHRC = `[ -f /etc/bash.bashrc ] && . /etc/bash.bashrc
if [ -d /usr/local/cuda/bin ]; then PATH=/usr/local/cuda/bin:$PATH; fi
export PATH
export GODFATHER_USER=\${USER#godfather_}
PS1='\\[\\e[1;32m\\]\${GODFATHER_USER}@\\h\\[\\e[0m\\]:\\[\\e[1;34m\\]\\w\\[\\e[0m\\]$ '
${ALIASES}alias workspace='cd "/workspace/users/$GODFATHER_USER"'
`;
