/** Who asks: somebody with the token, a device with a key, or a stranger. */
import type { Scope } from '../domain/access.ts';
import type { CallerOptions } from '../operations/operation.ts';
import type { Pulse } from '../pulse.ts';
import type { Device } from '../store/devices.ts';

export interface Caller {
  /** As events and sessions record it. */
  by: Pick<CallerOptions, 'actor' | 'createdBy'>;
  /** `null`: a stranger, who may do what is open to all. */
  scope: Scope | null;
  /** Of a page; `null`: somebody with the token, or a stranger. */
  device: Device | null;
}

const API = { actor: 'api', createdBy: 'api' } as const;
export const STRANGER: Caller = { by: API, scope: null, device: null };
export const TOKEN_HOLDER: Caller = { by: API, scope: 'operate', device: null };

/** Aborts when the key that asked is revoked; `null`: no key asked. It is watched until `gone` aborts. */
export function revocation(
  { device }: Caller,
  { pulse, gone }: { pulse: Pick<Pulse, 'access'>; gone: AbortSignal },
): AbortSignal | null {
  return device && pulse.access.watch(device.id, gone);
}

export function deviceCaller(device: Device): Caller {
  return { by: { actor: `web:${device.name}`, createdBy: 'web' }, scope: device.scope, device };
}
