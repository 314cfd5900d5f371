// CPU time and memory of processes, from Linux's /proc; elsewhere the figures stay empty.
import { readFileSync } from 'node:fs';

/** The kernel reports in ticks of 10 ms on every platform that Node runs on. */
const TICK_US = 10_000;

type Times = { readonly ownUs: number; readonly reapedChildrenUs: number };

function timesOf(pid: number): Times | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold blanks; what follows it does not. utime is field 14 of the whole line.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = (field: number): number => Number(fields[field - 3]);
    return { ownUs: (ticks(14) + ticks(15)) * TICK_US, reapedChildrenUs: (ticks(16) + ticks(17)) * TICK_US };
  } catch {
    return undefined;
  }
}

export function processCpuUs(pid: number): number {
  return timesOf(pid)?.ownUs ?? Number.NaN;
}

/** The postmaster, its children, and those of them that ended: backends, WAL writer, vacuum, everything. */
export function serverCpuUs(postmasterPid: number): number {
  try {
    const children = readFileSync(`/proc/${postmasterPid}/task/${postmasterPid}/children`, 'utf8');
    const living = children.split(' ').filter(Boolean).map(Number);
    const postmaster = timesOf(postmasterPid);
    if (postmaster === undefined) return Number.NaN;
    return living.reduce(
      (sum, pid) => sum + (timesOf(pid)?.ownUs ?? 0),
      postmaster.ownUs + postmaster.reapedChildrenUs,
    );
  } catch {
    return Number.NaN;
  }
}

/** What all processors did for anybody, and what the host took from them. */
function machineBusyUs(): number {
  try {
    const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.split(/ +/);
    // user, nice, system, idle, iowait, irq, softirq, steal
    return [0, 1, 2, 5, 6, 7].reduce((sum, index) => sum + Number(fields[index]), 0) * TICK_US;
  } catch {
    return Number.NaN;
  }
}

/** The CPU time that went to others: everybody but this process, its children, living or ended, and the server. */
export function othersCpuUs(postmasterPid: number, childPids: readonly number[] = []): number {
  const ours = timesOf(process.pid);
  if (ours === undefined) return Number.NaN;
  const children = childPids.reduce((sum, pid) => sum + (timesOf(pid)?.ownUs ?? 0), 0);
  return machineBusyUs() - ours.ownUs - ours.reapedChildrenUs - children - serverCpuUs(postmasterPid);
}

/** What the process has in memory. */
export function residentMb(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
    return Number(kilobytes) / 1024;
  } catch {
    return Number.NaN;
  }
}
