/** The operations on devices, ready to be called. */
import * as z from 'zod';
import { SCOPES } from '../../domain/access.ts';
import { operation } from '../operation.ts';
import { time } from '../session/view-schema.ts';
import * as definitions from './definitions.ts';
import { revokeDevice, viewDevices } from './devices.ts';

export const Device = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    createdAt: time,
    lastUsedAt: time.nullable(),
  })
  .meta({ id: 'Device' });

export const deviceOperations = {
  list: operation(definitions.listDevices, {
    run: async (operations) => ({ keys: await viewDevices(operations) }),
    view: z.object({ keys: z.array(Device) }),
  }),
  revoke: operation(definitions.revokeDevice, {
    run: (operations, { deviceId, keep }) => revokeDevice(operations, { deviceId, keep }),
    view: z.object({ key: Device }),
  }),
};
