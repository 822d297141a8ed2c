/** Runners of many packages mix what they print, a prefix before each line: pnpm -r and turbo. */

export interface OutputSection {
  /** The prefix, which names package and script; null for what stands without one. */
  name: string | null;
  lines: string[];
  /** Where the package is, as far as the runner says. */
  cwd: string | null;
  hasFailed: boolean;
}

/** `packages/a build$ tsc -p .`, then `packages/a build: …`. */
const PNPM = /^(?<folder>\S+) (?<script>[\w:.-]+)\$ /;
/** `@shop/a:build: cache miss, executing …`, then `@shop/a:build: …`. */
const TURBO = /^(?<name>[@\w./-]+:[\w:.-]+): cache (?:miss|hit|bypass)/;
const TURBO_FAILED = /^(?<package>[@\w./-]+)#(?<script>[\w:.-]+): +ERROR +command \((?<folder>[^()]+)\) /;

/** One section where there are no prefixes. Prefixes count only when the runner announced them. */
export function splitSections(lines: readonly string[]): OutputSection[] {
  const sections = new Map<string, OutputSection>();
  const rest: OutputSection = { name: null, lines: [], cwd: null, hasFailed: false };
  const open = (name: string, cwd: string | null): void => {
    if (!sections.has(name)) sections.set(name, { name, lines: [], cwd, hasFailed: false });
  };
  for (const line of lines) {
    const pnpm = PNPM.exec(line)?.groups;
    if (pnpm !== undefined) open(`${pnpm.folder} ${pnpm.script}`, pnpm.folder!);
    const turbo = TURBO.exec(line)?.groups;
    if (turbo !== undefined) open(turbo.name!, null);
  }
  if (sections.size === 0) return [{ ...rest, lines: [...lines] }];
  for (const line of lines) {
    const end = line.endsWith(':') ? line.length - 1 : line.indexOf(': ');
    const section = end === -1 ? undefined : sections.get(line.slice(0, end));
    if (section === undefined) rest.lines.push(line);
    else section.lines.push(line.slice(end + 2));
    const failed = TURBO_FAILED.exec(line)?.groups;
    const other = failed && sections.get(`${failed.package}:${failed.script}`);
    if (other) Object.assign(other, { cwd: failed.folder, hasFailed: true });
  }
  for (const section of sections.values()) section.hasFailed ||= section.lines.at(-1) === 'Failed';
  return [rest, ...sections.values()];
}
