import { killSuite } from './kill-suite.ts';

killSuite({ store: 'SQLite', prepare: async () => undefined });
