/** What can be asked of the devices that have a key. */
import { required, text } from '../fields.ts';
import { define, get } from '../operation.ts';

export const listDevices = define({
  name: 'list devices',
  summary: 'List the devices that have a key, the last used first.',
  access: 'read',
  fields: {},
  http: get('/api/keys', 'The devices. What they show is not kept.'),
});

export const revokeDevice = define({
  name: 'revoke device',
  summary: 'Take a key back: its requests are refused, and what it follows ends.',
  access: 'person',
  isOfProject: true,
  fields: {
    deviceId: required(
      text(40, {
        help: 'The id of the device.',
        pathName: 'id',
        pattern: { matches: /^dev_[0-9a-f-]{36}$/, says: 'must be the id of a device' },
      }),
    ),
  },
  http: { method: 'delete', path: '/api/keys/{id}', says: 'The device that had it.', status: 200 },
});
