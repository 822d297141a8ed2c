/** What happens inside a preflight agent's run: what it records, and its judged end. */
import type { BaselineIssue } from '../domain/workflow.ts';
import { type PreflightDoneInput, preflightTools } from '../tools/preflight-tools.ts';
import type { RunProtocol } from './pulse-protocol.ts';

export function createPreflightProtocol(): RunProtocol {
  const records: BaselineIssue[] = [];
  let done: PreflightDoneInput | null = null;
  const tools = preflightTools({
    record({ issueType, source, pattern, filePath, description }) {
      records.push({
        command: null,
        issueType,
        source,
        pattern,
        filePath: filePath ?? null,
        description: description ?? null,
        count: 1,
        category: issueType === 'Error' ? 'error' : 'warning',
      });
      return { ok: true, output: `Recorded; ${records.length} so far.` };
    },
    done(input) {
      const reasons: string[] = [];
      if (input.baselinesRecorded !== records.length) {
        reasons.push(
          `baselinesRecorded says ${input.baselinesRecorded}, but ${records.length} were recorded.`,
        );
      }
      const isExplained = records.some(
        ({ issueType, source }) => issueType === 'Error' && source === 'Build',
      );
      if (!input.buildSuccess && !isExplained) {
        reasons.push('buildSuccess is false, but no Build error was recorded that explains it.');
      }
      if (reasons.length > 0) return { ok: false, output: 'Not accepted yet.', reasons };
      done = input;
      return { ok: true, output: 'Preflight is done. End your run now.' };
    },
  });
  return {
    tools,
    saw: () => undefined,
    called: () => undefined,
    report: () => ({ preflight: done && { ...done, records } }),
  };
}
