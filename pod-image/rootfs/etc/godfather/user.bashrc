# What a member's interactive shell reads. The pod's environment came with the login (/etc/profile.d).
[ -f /etc/bash.bashrc ] && . /etc/bash.bashrc
export GODFATHER_USER=${USER#godfather_}
PS1='\[\e[1;32m\]${GODFATHER_USER}@\h\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '
alias ll='ls -alF --color=auto'
alias shared='cd /workspace/shared'
alias workspace='cd "/workspace/users/$GODFATHER_USER"'
[ -f "$HOME/.bashrc" ] && . "$HOME/.bashrc"
