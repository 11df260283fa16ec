/**
 * What officers can do in the terminal admin, and the test that does each of it in a real terminal. `features_test.ts`
 * fails on a feature without a test, on a test that is not there or does not drive the real program, and on an entry of
 * `NOT_YET` that has a test.
 */

export interface Feature {
  /** Stable, by its part: `pods.list`. */
  readonly id: string;
  readonly part:
    | "pods"
    | "actions"
    | "new pod"
    | "access"
    | "members"
    | "sessions"
    | "files"
    | "settings"
    | "units"
    | "rules";
  readonly sentence: string;
}

const of = (part: Feature["part"], features: Readonly<Record<string, string>>): Feature[] =>
  Object.entries(features).map(([id, sentence]) => ({ id: `${part.replace(" ", "-")}.${id}`, part, sentence }));

export const FEATURES: readonly Feature[] = [
  ...of("pods", {
    columns: "Every pod with name, age, id, state, provider, machine, cost and access",
    totals: "Totals: running and stopped, spend per hour, upcoming sessions",
    "no-key": "Without a RunPod key a screen to connect a provider takes the place of the list",
    stale: "States that RunPod did not confirm are marked",
    since: "A pod shows since when it is in its state",
    "no-address": "A pod that runs without an SSH address for minutes shows a hint",
    attention: "What is not settled is shown, with forget",
    adopt: "A pod that nobody here made is adopted",
    forwarding: "A pod that allows forwarding of Unix sockets is marked",
    filter: "The list is filtered and sorted",
  }),
  ...of("actions", {
    start: "A pod is started",
    stop: "A pod is stopped after a question that says what is lost and who is on",
    restart: "A pod is restarted after a question",
    terminate: "A pod is terminated after its name was typed",
    "no-gpu": "A start without a free GPU says so, and is offered again",
    "stop-starting": "A stop is offered in every state but stopped and gone",
    gone: "Terminating a pod that is gone only takes it off the list, and says so",
    extend: "The stop of a running session is put off",
    keep: "A pod is kept from stopping by itself",
    events: "The events of a pod are shown, and what to do about what is wrong",
  }),
  ...of("new pod", {
    fields: "A pod is made by a form with all fields of a create",
    catalog: "GPU types come from RunPod's catalog with price and availability",
    cost: "The cost per hour is shown before it is sent",
    validate: "The form refuses what the server would refuse, as one types",
    env: "Env rows are added and removed, and the form says who can read them",
    access: "Access is chosen in the form",
  }),
  ...of("access", {
    public: "A pod is opened to all members, or to those listed",
    role: "Members are filtered by role and by the start of a name",
    paste: "A Discord id is pasted",
    "add-role": "All of a role are added",
    remove: "One is removed, or all",
    names: "Names are shown for ids",
    "no-discord": "When Discord cannot be asked, the reason is shown and ids can be pasted",
    held: "After access is taken away it is said who still holds a certificate",
  }),
  ...of("members", {
    connected: "Who is connected now, with since when and a Root badge",
    unknown: "When it is not known who is connected, the reason is shown",
    recent: "Recent certificates are shown with serial and end",
    disconnect: "A person is disconnected",
  }),
  ...of("sessions", {
    add: "A session is added in local time with the zone shown",
    series: "A weekly series is added",
    lists: "Upcoming and past sessions are listed with their states",
    delete: "A session is deleted after a question; for a started one it warns that the pod stops",
    change: "A session is changed or extended",
    org: "The sessions of all pods are listed",
    failure: "The last failure of a session is shown",
  }),
  ...of("files", {
    browse: "Folders are browsed from /workspace",
    mkdir: "A folder is made",
    upload: "A file is uploaded with progress, speed and cancel",
    download: "A file is downloaded with progress, speed and cancel",
    rename: "A file is renamed or moved",
    delete: "A file is deleted after a question that says what is inside",
    edit: "A text is edited in the editor, and refused when it changed meanwhile",
    "too-large": "A file that is too large to edit is offered for download",
    stopped: "A stopped pod offers to start it",
    binary: "A file that is no UTF-8 opens read-only",
    archive: "A folder is archived",
  }),
  ...of("settings", {
    image: "The default image is set and cleared",
    "runpod-key": "The RunPod key is saved",
    "runpod-test": "The RunPod key is tested and removed",
    module: "Compute is switched on and off",
    webhooks: "Webhooks are added, changed, deleted and tested, with their deliveries",
    events: "The saved events are listed, with a filter and details",
    audit: "The audit is listed, with who, what, when and outcome",
    tokens: "Tokens are listed and revoked",
    roles: "Officer roles are chosen from the server's roles",
    money: "Idle stop and budget are set",
    spend: "Spend is shown by pod, month and session",
    orgs: "The operator goes to another organization",
  }),
  ...of("units", {
    money: "Money has two decimals, three under ten cents",
    words: "States, durations and times are written the same everywhere",
  }),
  ...of("rules", {
    local: "The operator on the server runs it without a token",
    remote: "An officer runs it from elsewhere by a token, which is kept in a file of mode 0600",
    expiry: "A token that runs out leads to a sign-in that keeps what was typed",
    asks: "What costs money, disconnects people or loses files asks first",
    names: "Names are cleaned of control and direction characters",
    sentence: "A refused action shows the server's sentence as it is",
    lost: "A lost server leaves the last state, marked, and it goes on by itself",
    terminal: "The terminal is whole again, however it ends",
    small: "It works from 40x12, and says so below that",
    suspend: "Ctrl-Z and fg",
    help: "Every key is shown and every screen has a help",
  }),
];

/** The test of each feature: a file in `tests/admin/` that drives the real program in tmux, and the name of the test. */
export const TESTS: Readonly<Record<string, readonly [file: string, test: string]>> = {
  "pods.columns": [
    "pods_tmux_test.ts",
    "the list of pods shows what the API tells of each, the totals and since when, at three sizes, and is filtered",
  ],
  "pods.totals": [
    "pods_tmux_test.ts",
    "the list of pods shows what the API tells of each, the totals and since when, at three sizes, and is filtered",
  ],
  "pods.no-key": [
    "pods_tmux_test.ts",
    "an officer connects RunPod, and sees of a pod that runs without an address for minutes what it may lack",
  ],
  "pods.stale": [
    "pods_tmux_test.ts",
    "unconfirmed states are marked with their age, an unknown create is forgotten and a pod from outside is adopted",
  ],
  "pods.since": [
    "pods_tmux_test.ts",
    "the list of pods shows what the API tells of each, the totals and since when, at three sizes, and is filtered",
  ],
  "pods.no-address": [
    "pods_tmux_test.ts",
    "an officer connects RunPod, and sees of a pod that runs without an address for minutes what it may lack",
  ],
  "pods.attention": [
    "pods_tmux_test.ts",
    "unconfirmed states are marked with their age, an unknown create is forgotten and a pod from outside is adopted",
  ],
  "pods.adopt": [
    "pods_tmux_test.ts",
    "unconfirmed states are marked with their age, an unknown create is forgotten and a pod from outside is adopted",
  ],
  "pods.forwarding": [
    "pods_tmux_test.ts",
    "a pod whose image allows forwarding of Unix sockets is marked, at three sizes and beside all other columns",
  ],
  "pods.filter": [
    "pods_tmux_test.ts",
    "the list of pods shows what the API tells of each, the totals and since when, at three sizes, and is filtered",
  ],
  "actions.start": [
    "tmux_test.ts",
    "an officer stops, starts and terminates a pod from the terminal, and the API shows it",
  ],
  "actions.stop": [
    "tmux_test.ts",
    "an officer stops, starts and terminates a pod from the terminal, and the API shows it",
  ],
  "actions.restart": [
    "pod_tmux_test.ts",
    "an officer restarts a pod, keeps it up, puts its session's stop off and reads its events, at three sizes",
  ],
  "actions.terminate": [
    "tmux_test.ts",
    "an officer stops, starts and terminates a pod from the terminal, and the API shows it",
  ],
  "actions.no-gpu": [
    "pod_tmux_test.ts",
    "a pod without a free GPU, over the budget, hanging in its start or gone at RunPod is handled from the terminal",
  ],
  "actions.stop-starting": [
    "pod_tmux_test.ts",
    "a pod without a free GPU, over the budget, hanging in its start or gone at RunPod is handled from the terminal",
  ],
  "actions.gone": [
    "pod_tmux_test.ts",
    "a pod without a free GPU, over the budget, hanging in its start or gone at RunPod is handled from the terminal",
  ],
  "actions.extend": [
    "pod_tmux_test.ts",
    "an officer restarts a pod, keeps it up, puts its session's stop off and reads its events, at three sizes",
  ],
  "actions.keep": [
    "pod_tmux_test.ts",
    "an officer restarts a pod, keeps it up, puts its session's stop off and reads its events, at three sizes",
  ],
  "actions.events": [
    "pod_tmux_test.ts",
    "a pod without a free GPU, over the budget, hanging in its start or gone at RunPod is handled from the terminal",
  ],
  "files.browse": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "files.mkdir": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "files.upload": [
    "files_tmux_test.ts",
    "uploads and downloads show how far they are and are cancelled; a stopped pod offers to start it",
  ],
  "files.download": [
    "files_tmux_test.ts",
    "uploads and downloads show how far they are and are cancelled; a stopped pod offers to start it",
  ],
  "files.rename": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "files.delete": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "files.edit": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "files.too-large": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "files.stopped": [
    "files_tmux_test.ts",
    "uploads and downloads show how far they are and are cancelled; a stopped pod offers to start it",
  ],
  "files.binary": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "files.archive": [
    "files_tmux_test.ts",
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ],
  "settings.runpod-key": [
    "pods_tmux_test.ts",
    "an officer connects RunPod, and sees of a pod that runs without an address for minutes what it may lack",
  ],
  "settings.image": [
    "settings_tmux_test.ts",
    "an officer changes every setting from the terminal, and the API shows it",
  ],
  "settings.runpod-test": [
    "settings_tmux_test.ts",
    "an officer changes every setting from the terminal, and the API shows it",
  ],
  "settings.module": [
    "settings_tmux_test.ts",
    "an officer changes every setting from the terminal, and the API shows it",
  ],
  "settings.webhooks": [
    "settings_tmux_test.ts",
    "an officer changes every setting from the terminal, and the API shows it",
  ],
  "settings.tokens": [
    "settings_tmux_test.ts",
    "an officer changes every setting from the terminal, and the API shows it",
  ],
  "settings.roles": [
    "settings_tmux_test.ts",
    "an officer changes every setting from the terminal, and the API shows it",
  ],
  "settings.money": [
    "settings_tmux_test.ts",
    "an officer changes every setting from the terminal, and the API shows it",
  ],
  "settings.events": [
    "settings_tmux_test.ts",
    "events and audit of the real program: filter, details and the pod's own, at three sizes",
  ],
  "settings.audit": [
    "settings_tmux_test.ts",
    "events and audit of the real program: filter, details and the pod's own, at three sizes",
  ],
  "settings.orgs": [
    "sign_in_tmux_test.ts",
    "the operator chooses an organization, acts there, and goes to another one and back",
  ],
  "units.money": [
    "every_screen_tmux_test.ts",
    "money, states, durations and times are written in one way on all screens",
  ],
  "units.words": [
    "every_screen_tmux_test.ts",
    "money, states, durations and times are written in one way on all screens",
  ],
  "rules.local": [
    "tmux_test.ts",
    "an officer stops, starts and terminates a pod from the terminal, and the API shows it",
  ],
  "rules.remote": [
    "tmux_test.ts",
    "an officer signs in from elsewhere by a pasted token, which is kept and never drawn",
  ],
  "rules.expiry": [
    "sign_in_tmux_test.ts",
    "a token that is revoked while a new pod is typed leads to a sign-in that keeps the form, and the pod is made",
  ],
  "rules.asks": [
    "rules_tmux_test.ts",
    "what costs money, disconnects people or loses files asks first, and nothing is done before a yes",
  ],
  "rules.names": [
    "rules_tmux_test.ts",
    "names of pods and people are drawn without control and direction characters, and such a pod is terminated",
  ],
  "rules.sentence": [
    "rules_tmux_test.ts",
    "a refused action shows the server's sentence as it is, also in the smallest window; a smaller one says so",
  ],
  "rules.lost": [
    "rules_tmux_test.ts",
    "a server that is killed leaves the last list in sight, marked, and the admin goes on when it is back",
  ],
  "rules.terminal": [
    "tmux_test.ts",
    "the terminal is whole again after a signal, a lost terminal and Ctrl-C, and the exit code says which",
  ],
  "rules.small": [
    "rules_tmux_test.ts",
    "a refused action shows the server's sentence as it is, also in the smallest window; a smaller one says so",
  ],
  "rules.suspend": ["tmux_test.ts", "Ctrl-Z gives the terminal back to the shell, and fg returns to the same screen"],
  "rules.help": [
    "every_screen_tmux_test.ts",
    "every screen has a help, which names every key that the screen shows",
  ],
  "new-pod.fields": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "new-pod.catalog": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "new-pod.cost": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "new-pod.validate": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "new-pod.env": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "new-pod.access": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "access.public": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "access.role": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "access.paste": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "access.add-role": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "access.remove": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "access.names": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "access.no-discord": [
    "people_tmux_test.ts",
    "a pod is made and shared in 40x12 and 200x50 although Discord's list and the pod's address are missing",
  ],
  "access.held": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "members.connected": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "members.unknown": [
    "people_tmux_test.ts",
    "a pod is made and shared in 40x12 and 200x50 although Discord's list and the pod's address are missing",
  ],
  "members.recent": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
  "sessions.add": [
    "sessions_tmux_test.ts",
    "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ],
  "sessions.series": [
    "sessions_tmux_test.ts",
    "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ],
  "sessions.lists": [
    "sessions_tmux_test.ts",
    "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ],
  "sessions.delete": [
    "sessions_tmux_test.ts",
    "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ],
  "sessions.change": [
    "sessions_tmux_test.ts",
    "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ],
  "sessions.org": [
    "sessions_tmux_test.ts",
    "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ],
  "sessions.failure": [
    "sessions_tmux_test.ts",
    "an officer adds, repeats, changes, extends and deletes sessions from the terminal, and sees why one failed",
  ],
  "settings.spend": [
    "sessions_tmux_test.ts",
    "an officer looks at the spend by pod, month and session, and sets a budget",
  ],
  "members.disconnect": [
    "people_tmux_test.ts",
    "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ],
};

/** Features that have no screen yet. Whoever builds one takes it out of here and puts its test above. */
export const NOT_YET: ReadonlySet<string> = new Set([]);
