import { servingAt } from '../../api/serve-lock.ts';
import { PulseError } from '../../domain/errors.ts';
import { resolveHome } from '../../home.ts';
import { openInBrowser } from '../../process/browser.ts';
import type { CommandContext } from '../command-spec.ts';
import { loginLink } from '../login-link.ts';
import { openPulse } from '../open-pulse.ts';

/** Prints the link, and opens it where a person sits. */
export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment } = context;
  const revoked = input.text('revoke');
  if (revoked !== undefined || input.has('devices')) return devices(context, revoked);
  const url = servingAt(resolveHome(environment).serveLock);
  if (url === null)
    throw new PulseError('not_found', 'Nobody serves the page of this state directory now.', {
      hint: 'pulse serve does; it prints the link as well.',
    });
  await using pulse = await openPulse(context);
  const id = input.argument('ID');
  const sessionId = id === undefined ? undefined : (await pulse.session(id)).id;
  const scope = input.has('read') ? ('read' as const) : ('operate' as const);
  const link = await loginLink(pulse, url, { sessionId, scope });
  if (output.isJson) {
    output.json({ url: link, scope });
    return 0;
  }
  output.data(link);
  const isOpened = output.stdout.isTerminal && (await openInBrowser(link, environment));
  output.talk(
    `${isOpened ? 'Opened. ' : ''}It signs one device in, once, within 10 minutes${scope === 'read' ? ', to look and change nothing' : ''}.`,
  );
  return 0;
}

async function devices(context: CommandContext, revoked: string | undefined): Promise<number> {
  const { output } = context;
  await using pulse = await openPulse(context);
  if (revoked !== undefined) {
    const { key } = await pulse.device.revoke({ deviceId: revoked });
    if (output.isJson) output.json({ key });
    else output.talk(`${key.name} has no key any longer.`);
    return 0;
  }
  const { keys } = await pulse.device.list();
  if (output.isJson) output.json({ keys });
  else if (keys.length === 0) output.talk('No device has a key.');
  for (const { id, name, scopes, lastUsedAt, createdAt } of output.isJson ? [] : keys)
    output.data(`${id}  ${scopes.at(-1)!.padEnd(7)}  ${lastUsedAt ?? createdAt}  ${name}`);
  return 0;
}
