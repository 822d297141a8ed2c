/** Every place where Pulse speaks MCP, spoken to in both ways by the official client. */
import { describe, expect, it } from 'vitest';
import { ERAS, MODERN, type Place, runPlace, servePlace, stdioPlace } from './eras.ts';

interface Case {
  where: string;
  open(): Promise<Place>;
  tool: string;
  good: Record<string, unknown>;
  bad: Record<string, unknown>;
  saysOfBad: RegExp;
}

const SESSIONS = { tool: 'pulse_list', good: { limit: 3 }, bad: { limit: 'many' }, saysOfBad: /limit/ };
const CASES: Case[] = [
  {
    ...{ where: 'the tools of a run', open: runPlace, tool: 'pulse_signal', good: { signal: 'COMPLETE' } },
    ...{ bad: { signal: 'DONE' }, saysOfBad: /signal/ },
  },
  { where: '/mcp of pulse serve', open: servePlace, ...SESSIONS },
  { where: 'pulse mcp', open: stdioPlace, ...SESSIONS },
];

describe.each(CASES)('$where', ({ open, tool, good, bad, saysOfBad }) => {
  it.each(ERAS)('answers a client with %s', async (era) => {
    await using place = await open();
    const client = await place.connect(era);
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'a handshake' ? '2025-11-25' : MODERN);
    expect(client.getServerVersion()).toMatchObject({ name: 'pulse' });
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(tool);
    const done = await client.callTool({ name: tool, arguments: good });
    expect(done.isError ?? false).toBe(false);
    expect(done.structuredContent).toBeDefined();
  });

  it.each(ERAS)('says what is wrong with a call, to a client with %s', async (era) => {
    await using place = await open();
    const client = await place.connect(era);
    const refused = await client.callTool({ name: tool, arguments: bad });
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toMatch(saysOfBad);
    await expect(client.callTool({ name: 'pulse_rm' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('pulse_rm'),
      data: { code: 'unknown_tool', hint: expect.stringContaining(tool) },
    });
  });

  it('has the same tools and instructions for both', async () => {
    await using place = await open();
    const [older, newer] = await Promise.all(ERAS.map((era) => place.connect(era)));
    expect((await newer!.listTools()).tools).toEqual((await older!.listTools()).tools);
    expect(newer!.getInstructions()).toBe(older!.getInstructions());
  });
});
