import { ADDRESS_PASSWORD, ADDRESS_TOKEN, isWeakSecret, WEAK_NAME } from './secret-shapes.ts';

/** What the environment itself calls secret: such values are hidden wherever they are printed. */
const SECRET_VARIABLE =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|(?:ACCESS|ACCOUNT|AUTH|ENCRYPTION|MASTER|PRIVATE|SECRET|SERVICE|SIGNING)_KEY)(?:_BASE)?(?:_?\d{1,3})?$/i;
const WEAK_VARIABLE = new RegExp(`(?:${WEAK_NAME})$`);

/** The values of variables with a secret's name, and the passwords in the addresses that others hold. */
export function environmentSecrets(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    if (SECRET_VARIABLE.test(name)) return [value];
    const weakName = WEAK_VARIABLE.exec(name)?.[0];
    if (weakName !== undefined && isWeakSecret(weakName, value)) return [value];
    const secrets = [ADDRESS_PASSWORD, ADDRESS_TOKEN].flatMap((shape) => value.match(shape) ?? []);
    return secrets.flatMap((secret) => [secret, plainly(secret)]);
  });
}

function plainly(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded; // not percent-encoded after all
  }
}
