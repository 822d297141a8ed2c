/** What `pulse doctor` says about how runs are cleaned up on this machine. */
import { canUseCgroups } from './cgroup.ts';

export type CleanupMeans = 'cgroup' | 'descent' | 'environ' | 'group';

export interface CleanupGuarantee {
  /** Strongest first. */
  means: CleanupMeans[];
  sentence: string;
}

export function cleanupGuarantee(hasCgroups: boolean = canUseCgroups()): CleanupGuarantee {
  if (hasCgroups) {
    return {
      means: ['cgroup', 'environ', 'group'],
      sentence: 'Every run has its own cgroup: all that an agent starts is ended with its run.',
    };
  }
  return {
    means: ['descent', 'environ', 'group'],
    sentence:
      'No cgroup can be made here: what an agent starts is found by process group, by PULSE_RUN_ID in its ' +
      'environment, by descent seen during the run and by working directory. A process that empties its ' +
      'environment, leaves its parents within 200 ms and changes its directory can outlive the run.',
  };
}
