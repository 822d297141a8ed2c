/** Who may ask from a page: codes that are good once, and the keys that devices get for them. */
import { createHash, randomBytes } from 'node:crypto';
import { type Scope, scopesOf } from '../../domain/access.ts';
import { PulseError } from '../../domain/errors.ts';
import { uuidv7 } from '../../domain/ids.ts';
import {
  type Device,
  findDeviceByHash,
  hasDevice,
  insertCode,
  insertDevice,
  listDevices,
  markUsed,
  removeDevice,
  takeCode,
} from '../../store/devices.ts';
import type { Operations } from '../context.ts';
import { type AnswerHook, changeProject } from '../project-change.ts';

export interface DeviceView {
  id: string;
  name: string;
  scopes: Scope[];
  createdAt: string;
  lastUsedAt: string | null;
}

export interface Login {
  /** Of a login with the token: what the key is to be good for. A code says it itself, and may only be narrowed. */
  scope?: Scope;
  /** `null`: with the token, which the caller has checked. */
  code: string | null;
  name?: string;
}

/** Who may ask, as the server needs it. */
export interface DeviceAccess {
  /** A code for a key of this scope; good once, for ten minutes. */
  createCode(scope: Scope): Promise<string>;
  /** `null`: the code is not known, was used, or is too old. */
  login(login: Login): Promise<{ key: string; device: DeviceView } | null>;
  /** Whose key it is; `null`: nobody's. Remembers that it was used, within a minute. */
  find(key: string): Promise<Device | null>;
  has(deviceId: string): Promise<boolean>;
  /** Aborts when the key is revoked, also by another process. Looks until `gone` aborts. */
  watch(deviceId: string, gone: AbortSignal): AbortSignal;
}

/** Tells a key from the token. */
export const KEY_PREFIX = 'pk_';
const CODE_VALID_MS = 10 * 60_000;
const USED_EVERY_MS = 60_000;
const DEFAULT_NAME = 'browser';
/** A ring may be lost. */
const LOOK_EVERY_MS = 10_000;

export function openDeviceAccess({ engine: { store, ids, bell } }: Operations): DeviceAccess {
  return {
    async createCode(scope) {
      const code = randomBytes(18).toString('base64url');
      await store.tx('login_code', (db) =>
        insertCode(db, { hash: hashOf(code), scope, validMs: CODE_VALID_MS }),
      );
      return code;
    },
    async login({ scope = 'operate', code, name = DEFAULT_NAME }) {
      const key = `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;
      const id = `dev_${uuidv7(ids)}`;
      return store.tx('login', async (db) => {
        const allowed = code === null ? 'operate' : await takeCode(db, hashOf(code));
        if (allowed === null) return null;
        const narrow = allowed === 'read' ? 'read' : scope;
        const known = (await listDevices(db)).map((device) => device.name);
        const device = await insertDevice(db, {
          id,
          hash: hashOf(key),
          name: unlike(name, known),
          scope: narrow,
        });
        return { key, device: viewDevice(device) };
      });
    },
    async find(key) {
      const device = await store.read((db) => findDeviceByHash(db, hashOf(key)));
      if (device && isUsedLongAgo(device)) await store.tx('device_used', (db) => markUsed(db, device.id));
      return device;
    },
    has: (deviceId) => store.read((db) => hasDevice(db, deviceId)),
    watch(deviceId, gone) {
      const revoked = new AbortController();
      const look = async (): Promise<void> => {
        using listener = bell.listen(deviceId);
        while (!gone.aborted && !revoked.signal.aborted) {
          const isKnown = await store.read((db) => hasDevice(db, deviceId)).catch(() => true);
          if (isKnown) await listener.wait(LOOK_EVERY_MS, gone);
          else revoked.abort();
        }
      };
      void look();
      return revoked.signal;
    },
  };
}

export async function viewDevices({ engine: { store } }: Pick<Operations, 'engine'>): Promise<DeviceView[]> {
  return (await store.read(listDevices)).map(viewDevice);
}

/** Its requests are refused from now on, and what it follows ends. Throws `not_found`. */
export async function revokeDevice(
  operations: Operations,
  { deviceId, keep }: { deviceId: string; keep?: AnswerHook },
): Promise<{ key: DeviceView }> {
  const answer = await changeProject(operations, { label: 'revoke_device', keep }, async (db) => {
    const device = await removeDevice(db, deviceId);
    if (device) return { key: viewDevice(device) };
    throw new PulseError('not_found', `There is no device ${deviceId}.`, {
      hint: 'GET /api/keys lists them; pulse open --devices does too.',
    });
  });
  operations.engine.bell.ring(deviceId);
  return answer;
}

export function viewDevice({ scope, ...device }: Device): DeviceView {
  return { ...device, scopes: scopesOf(scope) };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function isUsedLongAgo({ lastUsedAt }: Device): boolean {
  return lastUsedAt === null || Date.now() - Date.parse(lastUsedAt) > USED_EVERY_MS;
}

/** Events name the device: two of one name could not be told apart. */
function unlike(name: string, known: readonly string[]): string {
  if (!known.includes(name)) return name;
  for (let number = 2; ; number++) if (!known.includes(`${name} ${number}`)) return `${name} ${number}`;
}
