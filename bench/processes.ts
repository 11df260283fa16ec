/** What the kernel says about a process. Linux only, as the benches are. */

/** Memory of a process that is in RAM now, in MB of 1,000,000 bytes. */
export function residentMegabytes(pid: number): number {
  return memoryOf(pid, "VmRSS");
}

/** The most memory of a process that was in RAM at a time so far, in MB of 1,000,000 bytes. */
export function peakMegabytes(pid: number): number {
  return memoryOf(pid, "VmHWM");
}

/** Time the process has spent on the CPUs so far, all its threads together, in ms. */
export function cpuMilliseconds(pid: number): number {
  // The second field is the program's name in parentheses, which may hold anything.
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [fields[11], fields[12]];
  return (Number(user) + Number(system)) * 10;
}

function memoryOf(pid: number, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(Deno.readTextFileSync(`/proc/${pid}/status`));
  if (found === null) throw new Error(`Process ${pid} has no ${field}`);
  return Number(found[1]) * 1024 / 1e6;
}
