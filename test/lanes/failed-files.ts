/** A reporter for `run-lane.ts`: which files failed, and how long each one took. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface LaneReport {
  failed: string[];
  /** Thrown outside of any test: no file can be run again for it. */
  strayErrors: string[];
  seconds: Record<string, number>;
}

export default class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const name = ({ moduleId }: TestModule) => relative(process.cwd(), moduleId);
    const report: LaneReport = {
      failed: modules.filter((module) => module.state() === 'failed').map(name),
      strayErrors: errors.map(({ message }) => message),
      seconds: Object.fromEntries(modules.map((module) => [name(module), secondsOf(module)])),
    };
    writeFileSync(process.env.PULSE_TEST_REPORT!, JSON.stringify(report));
  }
}

function secondsOf(module: TestModule): number {
  const { duration, collectDuration, prepareDuration, environmentSetupDuration, setupDuration } =
    module.diagnostic();
  const ms = duration + collectDuration + prepareDuration + environmentSetupDuration + setupDuration;
  return Math.round(ms / 100) / 10;
}
