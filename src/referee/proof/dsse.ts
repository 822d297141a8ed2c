/** DSSE envelopes (version 1) with one ed25519 signature, and a bundle of them: one envelope a line. */
import { type KeyObject, sign, verify } from 'node:crypto';
import * as z from 'zod';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

const envelopeSchema = z.strictObject({
  payload: z.string(),
  payloadType: z.string(),
  signatures: z.array(z.strictObject({ keyid: z.string(), sig: z.string() })).length(1),
});

/** Not judged yet: nobody has looked whether the signature is right. */
export interface Envelope {
  payload: Buffer;
  payloadType: string;
  keyId: string;
  signature: Buffer;
}

/** The bytes that are signed: they name the type, so that no other use of the key can be taken for this one. */
export function preAuthenticationEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${type.length} `),
    type,
    Buffer.from(` ${payload.length} `),
    payload,
  ]);
}

export interface Signer {
  id: string;
  privateKey: KeyObject;
}

/** One line, without its end. The same content and key make the same line. */
export function sealEnvelope(content: unknown, { id, privateKey }: Signer): string {
  const payload = Buffer.from(JSON.stringify(content));
  const sig = sign(null, preAuthenticationEncoding(PAYLOAD_TYPE, payload), privateKey);
  return JSON.stringify({
    payload: payload.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid: id, sig: sig.toString('base64') }],
  });
}

export function isSignedBy({ payload, payloadType, signature }: Envelope, publicKey: KeyObject): boolean {
  return (
    publicKey.asymmetricKeyType === 'ed25519' &&
    verify(null, preAuthenticationEncoding(payloadType, payload), publicKey, signature)
  );
}

/** `null`: not written as Pulse writes it. Then two programs could read two different things in it. */
export function openEnvelope(text: string): Envelope | null {
  const parsed = envelopeSchema.safeParse(parseExactly(text)).data;
  const [signature] = parsed?.signatures ?? [];
  const payload = parsed && decodeExactly(parsed.payload);
  const bytes = signature && decodeExactly(signature.sig);
  if (!parsed || !signature || !payload || !bytes) return null;
  return { payload, payloadType: parsed.payloadType, keyId: signature.keyid, signature: bytes };
}

/** The value of a JSON text that says each thing once and in one way; `undefined` of any other, such as a key given twice. */
export function parseExactly(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined; // no JSON, or nested too deep to be written
  }
}

function decodeExactly(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
