import type { LoopHost } from '../../engine/loops.ts';
import { createCommanders } from './commander/mcp-client.ts';
import { createExperimentBriefs } from './experiment/experiment-brief.ts';
import { experimentMaterial } from './experiment-material.ts';
import { createResearchLoop } from './index.ts';
import { createMeasurer } from './measure/measurer.ts';
import { createMeasuringSlot, measuringSlotPath } from './measure/measuring-slot.ts';
import { createResearchFiles } from './report/research-files.ts';
import { writeReport } from './report/write-report.ts';

/** On the real machine: its git, its one slot for measuring, commanders over MCP. */
export function openResearchLoop({ store, git, environment, redactor, sandboxes, bell, debug }: LoopHost) {
  return createResearchLoop({
    store,
    compose: createExperimentBriefs({
      store,
      review: ({ project_path: root }, wanted) => experimentMaterial(git, { root, ...wanted }),
    }),
    measurer: createMeasurer({
      git,
      environment,
      redactor,
      sandboxes,
      slot: createMeasuringSlot(measuringSlotPath),
    }),
    files: createResearchFiles({ store, git }),
    commanders: createCommanders({ environment, debug }),
    onAnnounced: (id) => bell.ring(id),
    writeReport: (id, words) => writeReport({ store, git }, id, words),
  });
}
