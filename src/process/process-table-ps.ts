/** The process table where there is no /proc (macOS): best effort from one `ps`, and `lsof` for directories. */
import { execFileSync } from 'node:child_process';
import type { ProcessStat, ProcessTable } from './process-table.ts';

/** `-E` appends the environment to the command, so both are searched as words of one text. */
const PS_ARGUMENTS = ['-axwwE', '-o', 'pid=,ppid=,pgid=,tty=,stat=,lstart=,command='];

export function openPsTable(text: string = runOrEmpty('ps', PS_ARGUMENTS)): ProcessTable {
  const rows = new Map(parsePs(text).map((row) => [row.pid, row]));
  let directories: Map<number, string> | null = null;
  return {
    pids: () => [...rows.keys()],
    stat: (pid) => rows.get(pid) ?? null,
    hasVariable: (pid, variable) => ` ${rows.get(pid)?.text ?? ''} `.includes(` ${variable} `),
    valuesOf: (pid, name) =>
      (rows.get(pid)?.text ?? '')
        .split(' ')
        .filter((word) => word.startsWith(`${name}=`))
        .map((word) => word.slice(name.length + 1)),
    cwd(pid) {
      directories ??= parseLsof(runOrEmpty('lsof', ['-w', '-d', 'cwd', '-Fpn']));
      return directories.get(pid) ?? null;
    },
    command: (pid) => rows.get(pid)?.text ?? '',
  };
}

interface PsRow extends ProcessStat {
  text: string;
}

function parsePs(text: string): PsRow[] {
  const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\w+\s+\w+\s+\w+\s+[\d:]+\s+\d{4})\s+(.*)$/;
  return text.split('\n').flatMap((row) => {
    const match = line.exec(row);
    if (match === null) return [];
    const [, pid, parent, group, terminal, state, started, command] = match as unknown as string[];
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
      hasTerminal: !['?', '??', '-'].includes(terminal!),
      isZombie: state!.startsWith('Z'),
      startTime: Date.parse(started!),
      name: command!.split(' ')[0]!,
      text: command!,
    };
  });
}

export function parseLsof(text: string): Map<number, string> {
  const directories = new Map<number, string>();
  let pid = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    if (line.startsWith('n')) directories.set(pid, line.slice(1));
  }
  return directories;
}

function runOrEmpty(file: string, args: string[]): string {
  try {
    return execFileSync(file, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: 'pipe' });
  } catch (error) {
    // lsof ends with 1 when it could not look into every process: what it did print still counts.
    const printed = (error as { stdout?: unknown }).stdout;
    return typeof printed === 'string' ? printed : '';
  }
}
