import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { OWN_NODE, PROGRAM, type Scene } from '../e2e/scene.ts';

/** `pulse mcp`, as an agent would start it from inside its run. */
export async function connectInsideRun({
  directory,
  home,
}: Pick<Scene, 'directory' | 'home'>): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' });
  const env = { PATH: process.env.PATH!, HOME: directory, PULSE_HOME: home, PULSE_RUN_ID: 'run_1' };
  await client.connect(new StdioClientTransport({ command: OWN_NODE, args: [PROGRAM, 'mcp'], env }));
  return client;
}
