import assert from "node:assert/strict";
import { parsePod } from "../../server/runpod/schema.ts";

interface Case {
  readonly when: string;
  readonly pod: Record<string, unknown>;
  readonly address: string | null;
}

const HTTP = { private: 8888, public: 60123, type: "http", ip: "100.65.0.101" };
const TCP = { private: 22, public: 17740, type: "tcp", ip: "203.0.113.7" };
const ports = (...list: unknown[]) => ({ runtime: { uptime: 1, ports: list } });
const direct = (host: unknown, port: unknown) => ({ ssh: { proxy: null, direct: { host, port, username: "root" } } });

const CASES: readonly Case[] = [
  { when: "ssh.direct is there", pod: direct("203.0.113.9", 10022), address: "203.0.113.9:10022" },
  {
    when: "ssh.direct differs from runtime.ports",
    pod: { ...direct("203.0.113.9", 10022), ...ports(TCP) },
    address: "203.0.113.9:10022",
  },
  { when: "ssh.direct holds a host name", pod: direct("pod-1.example.org", 22), address: "pod-1.example.org:22" },
  { when: "ssh.direct holds an IPv6 address", pod: direct("2001:db8::7", 22), address: "2001:db8::7:22" },
  {
    when: "ssh.direct is null",
    pod: { ssh: { proxy: null, direct: null }, ...ports(TCP) },
    address: "203.0.113.7:17740",
  },
  { when: "ssh is missing", pod: ports(TCP), address: "203.0.113.7:17740" },
  {
    when: "ssh.direct lacks a port",
    pod: { ...direct("203.0.113.9", null), ...ports(TCP) },
    address: "203.0.113.7:17740",
  },
  { when: "ssh.direct lacks a host", pod: { ...direct("", 22), ...ports(TCP) }, address: "203.0.113.7:17740" },
  {
    when: "only ssh.proxy is there",
    pod: { ssh: { proxy: { host: "ssh.runpod.io", port: 22 }, direct: null } },
    address: null,
  },
  { when: "runtime is null", pod: { runtime: null }, address: null },
  { when: "runtime is empty", pod: { runtime: {} }, address: null },
  { when: "runtime.ports is null", pod: { runtime: { ports: null } }, address: null },
  { when: "the http entry comes first", pod: ports(HTTP, TCP), address: "203.0.113.7:17740" },
  { when: "port 22 is an http entry", pod: ports({ ...TCP, type: "http" }), address: null },
  { when: "port 22 has the proxy's address", pod: ports({ ...TCP, ip: "100.65.0.101" }), address: null },
  {
    when: "the address is only near the proxies'",
    pod: ports({ ...TCP, ip: "100.128.0.1" }),
    address: "100.128.0.1:17740",
  },
  { when: "public is null", pod: ports({ ...TCP, public: null }), address: null },
  { when: "ip is null", pod: ports({ ...TCP, ip: null }), address: null },
  {
    when: "an unusable entry precedes a usable one",
    pod: ports(null, "22", { ...TCP, ip: null }, TCP),
    address: "203.0.113.7:17740",
  },
  { when: "another port is mapped", pod: ports({ ...TCP, private: 8022 }), address: null },
  {
    when: "the names are those of GraphQL",
    pod: ports({ privatePort: 22, publicPort: 4022, type: "tcp", ip: "203.0.113.7", isIpPublic: true }),
    address: "203.0.113.7:4022",
  },
  { when: "isIpPublic is false", pod: ports({ ...TCP, isIpPublic: false }), address: null },
  {
    when: "the type is missing",
    pod: ports({ private: 22, public: 4022, ip: "203.0.113.7" }),
    address: "203.0.113.7:4022",
  },
  {
    when: "the shape is v1",
    pod: { publicIp: "203.0.113.8", portMappings: { "22": 10341 } },
    address: "203.0.113.8:10341",
  },
  { when: "the v1 shape has no IP yet", pod: { publicIp: "", portMappings: { "22": 10341 } }, address: null },
  { when: "the v1 shape has no mapping yet", pod: { publicIp: "203.0.113.8", portMappings: null }, address: null },
  {
    when: "v1 and v2 shapes meet",
    pod: { ...direct("203.0.113.9", 1), publicIp: "203.0.113.8", portMappings: { "22": 2 } },
    address: "203.0.113.9:1",
  },
  {
    when: "v1 says desiredStatus only",
    pod: { status: undefined, desiredStatus: "RUNNING", publicIp: "203.0.113.8", portMappings: { "22": 2 } },
    address: "203.0.113.8:2",
  },
  { when: "the host is an option of ssh", pod: direct("-oProxyCommand=id", 22), address: null },
  { when: "the host holds a blank", pod: direct("a b", 22), address: null },
  { when: "the host holds a line break", pod: direct("a\nHost *", 22), address: null },
  { when: "the port is too large", pod: direct("203.0.113.9", 70_000), address: null },
  { when: "the port is 0", pod: direct("203.0.113.9", 0), address: null },
  { when: "the port is digits in quotes", pod: direct("203.0.113.9", "10022"), address: "203.0.113.9:10022" },
];

for (const { when, pod, address } of CASES) {
  Deno.test(`address of a running pod is ${address} when ${when}`, () => {
    const parsed = parsePod({ id: "p", status: "RUNNING", ...pod })?.pod.address;
    assert.equal(parsed ? `${parsed.host}:${parsed.port}` : null, address);
  });
}

for (const status of ["PROVISIONING", "STARTING", "EXITED", "ERROR", "TERMINATED", "HIBERNATED", "running", null]) {
  Deno.test(`address is null when the status is ${status}, whatever old ports say`, () => {
    const old = { ...direct("203.0.113.9", 10022), ...ports(TCP), publicIp: "203.0.113.8", portMappings: { "22": 1 } };
    assert.equal(parsePod({ id: "p", status, ...old })?.pod.address, null);
  });
}
