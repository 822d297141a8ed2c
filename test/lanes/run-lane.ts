/**
 * `node test/lanes/run-lane.ts SCRIPT [FILE …]` runs one of package.json's test scripts. A file that fails is run once
 * more, alone: if it passes then, it is named as flaky and does not fail the run. With `--again` the script has been run
 * and has failed, and has written its report to PULSE_TEST_REPORT.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LaneReport } from './failed-files.ts';

const SLOWEST = 10;

const given = process.argv.slice(2);
const isAgain = given[0] === '--again';
const [script, ...files] = isAgain ? given.slice(1) : given;
if (!script) throw new Error('usage: node test/lanes/run-lane.ts [--again] SCRIPT [FILE …]');
process.exitCode = await runLane(script, files);

async function runLane(script: string, files: string[]): Promise<number> {
  const { code, report, seconds } = isAgain ? readFirstRun() : await run(script, files);
  if (!report) {
    say(`${script}: ended with ${code} and without a report`);
    return 1;
  }
  if (!isAgain) tellTimes(script, { report, seconds });
  for (const error of report.strayErrors) say(`${script}: an error outside of any test: ${error}`);
  const broken: string[] = [];
  for (const file of report.failed) {
    say(`${file} failed; once more, alone`);
    const again = await run(script, [file]);
    if (again.code === 0) say(`FLAKY ${file}: failed, and passed when it was run again`);
    else broken.push(file);
  }
  for (const file of broken) say(`FAILED ${file}: twice`);
  if (broken.length > 0 || report.strayErrors.length > 0) return 1;
  // It may fail for a reason that is no test's, such as a threshold or a missing file.
  return code === 0 || report.failed.length > 0 ? 0 : 1;
}

interface Run {
  code: number | null;
  report: LaneReport | null;
  seconds: number;
}

function readFirstRun(): Run {
  return { code: 1, report: readReport(process.env.PULSE_TEST_REPORT ?? ''), seconds: 0 };
}

async function run(script: string, files: string[]): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-lane-'));
  const path = join(folder, 'report.json');
  const began = performance.now();
  try {
    const child = spawn('npm', ['run', script, '--', ...files], {
      env: { ...process.env, PULSE_TEST_REPORT: path },
      stdio: 'inherit',
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    return { code, report: readReport(path), seconds: (performance.now() - began) / 1_000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(path: string): LaneReport | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LaneReport;
  } catch {
    return null;
  }
}

function tellTimes(script: string, { report, seconds }: { report: LaneReport; seconds: number }): void {
  const slowest = Object.entries(report.seconds).toSorted(([, a], [, b]) => b - a);
  const sum = slowest.reduce((total, [, one]) => total + one, 0);
  say(
    `${script}: ${seconds.toFixed(0)} s, ${sum.toFixed(0)} s of workers in ${slowest.length} files; the longest:`,
  );
  for (const [file, one] of slowest.slice(0, SLOWEST)) say(`  ${one.toFixed(1).padStart(6)} s  ${file}`);
}

function say(line: string): void {
  console.log(`[lane] ${line}`);
}
