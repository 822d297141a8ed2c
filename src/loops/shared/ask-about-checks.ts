import type { Judgement } from '../../domain/judgement.ts';

/** What a person has to decide about. */
export function askAboutChecks({ reasons, declared }: Judgement): string {
  const said = declared.map(({ path, reason }) => `${path}: ${reason}`);
  return ['The checks were changed, and the old ones do not hold.', ...said, ...reasons].join('\n');
}
