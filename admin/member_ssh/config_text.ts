import { aliasById } from "../../server/pods/host_alias.ts";
import { type OrgPlaces, podPlaces } from "./places.ts";

export interface ConfigFacts {
  readonly org: string;
  /** The server's origin. */
  readonly server: string;
  readonly places: OrgPlaces;
  /** The member's private key. */
  readonly identity: string;
  /** Names for ssh by pod id. */
  readonly aliases: Readonly<Record<string, string>>;
  /** The words that start this program. */
  readonly command: readonly string[];
}

/** The name under which ssh knows a pod's host key: that of the pod, whatever its address is now. */
export function hostKeyAlias(org: string, podId: string): string {
  return aliasById(org, podId) ?? `${org}-pod`;
}

/**
 * The configuration for an org's pods. All paths must be plain ones (`plainPath`), all names ones of `assignAliases`.
 *
 * ssh reads a certificate once, before it starts the ProxyCommand. So what renews it is a `Match exec`, which runs while the
 * configuration is read; ssh runs it for this one name only, because the name is judged first. Of each setting ssh takes
 * the first value.
 */
export function configText(facts: ConfigFacts): string {
  const head = [
    `# Pods of ${facts.org} at ${facts.server}, written by orgpods ssh-config; changes are lost.`,
    `# Remove with: orgpods --org ${facts.org} ssh-config --remove`,
  ];
  const blocks = Object.entries(facts.aliases).map(([id, alias]) => podBlock(facts, id, alias));
  return [...head, ...blocks.flat(), ""].join("\n");
}

function podBlock({ org, places, identity, command }: ConfigFacts, podId: string, alias: string): string[] {
  const { certificate, knownHosts } = podPlaces(places, podId);
  const proxy = [...command.map(quoted), "ssh-proxy"].join(" ");
  return [
    "",
    `Match originalhost ${alias} exec "${proxy} --renew ${org} ${podId}"`,
    // The server did not know a host key of this start yet: the first one is kept and must stay.
    `Match originalhost ${alias} exec "test ! -s ${quoted(knownHosts)}"`,
    "  StrictHostKeyChecking accept-new",
    `Host ${alias}`,
    "  User root",
    `  HostKeyAlias ${hostKeyAlias(org, podId)}`,
    `  UserKnownHostsFile "${knownHosts}"`,
    "  GlobalKnownHostsFile /dev/null",
    "  StrictHostKeyChecking yes",
    "  UpdateHostKeys no",
    `  IdentityFile "${identity}"`,
    `  CertificateFile "${certificate}"`,
    "  IdentitiesOnly yes",
    `  ProxyCommand ${proxy} ${org} ${podId}`,
  ];
}

const quoted = (word: string) => `'${word}'`;
