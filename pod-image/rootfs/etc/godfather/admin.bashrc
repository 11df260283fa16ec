# What an officer's shell reads; the login program has set GODFATHER_USER.
[ -f /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -f /root/.bashrc ] && . /root/.bashrc
[ -f /etc/profile.d/pod-env.sh ] && . /etc/profile.d/pod-env.sh
[ -f /etc/profile.d/zz-godfather-cuda.sh ] && . /etc/profile.d/zz-godfather-cuda.sh
PS1='\[\e[1;31m\]${GODFATHER_USER}@\h\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]# '
alias ll='ls -alF --color=auto'
alias shared='cd /workspace/shared'
alias workspace='cd "/workspace/users/$GODFATHER_USER"'
