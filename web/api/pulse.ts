/** The client that everybody else has, too (docs/client.md): its methods and types are made from the table of operations. */
import { createClient } from '../../src/client/client.ts';
import { carefully } from './client.ts';

export const pulse = createClient({ url: '', fetch: carefully });
