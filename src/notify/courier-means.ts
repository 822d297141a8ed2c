/** What a courier works with, in this process. */
import { runGh } from '../process/gh.ts';
import { createSenders } from './channels/all.ts';
import type { RunGh } from './channels/issue.ts';
import type { CourierMeans } from './courier.ts';
import { createPrograms } from './run-command.ts';

interface Self {
  owner: string;
  owners(owner: string): 'alive' | 'dead' | 'elsewhere';
}

export function courierMeans({
  engine: { owner, owners },
  ...means
}: Pick<CourierMeans, 'store' | 'environment' | 'redactor' | 'debug'> & {
  engine: Self;
}): CourierMeans {
  const { environment } = means;
  const gh: RunGh = (args, call) => runGh({ args, environment, ...call });
  const senders = createSenders({ ...createPrograms(environment), gh });
  return { ...means, senders, owner, isGone: (other) => owners(other) === 'dead' };
}
