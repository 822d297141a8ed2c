import { killSuite } from './kill-suite.ts';

killSuite('SQLite', async () => undefined);
