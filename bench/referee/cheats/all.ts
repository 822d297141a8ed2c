import type { Cheat } from '../cheat.ts';
import { ASIDE_CHEATS, HOME_CHEATS, POISON_CHEATS } from './asides.ts';
import { CONFIG_CHEATS } from './configs.ts';
import { DEFINITION_CHEATS } from './definitions.ts';
import { SOURCE_CHEATS } from './sources.ts';
import { TEST_CHEATS } from './tests.ts';

export const CHEATS: readonly Cheat[] = [
  ...TEST_CHEATS,
  ...DEFINITION_CHEATS,
  ...CONFIG_CHEATS,
  ...SOURCE_CHEATS,
  ...ASIDE_CHEATS,
  ...POISON_CHEATS,
  ...HOME_CHEATS,
];
