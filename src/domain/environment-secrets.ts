/** What the environment itself calls secret: such values are hidden wherever they are printed. */
const SECRET_VARIABLE =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|(?:ACCESS|AUTH|ENCRYPTION|MASTER|PRIVATE|SECRET|SERVICE|SIGNING)_KEY)(?:_BASE)?$/i;
/** The password of an address, as it stands there. */
const ADDRESS_PASSWORD = /:\/\/[^\s/:@]{0,128}:([^\s/@]{1,256})@/g;

/** The values of variables with a secret's name, and the passwords in the addresses that others hold. */
export function environmentSecrets(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    if (SECRET_VARIABLE.test(name)) return [value];
    return [...value.matchAll(ADDRESS_PASSWORD)].flatMap(([, password = '']) => [
      password,
      plainly(password),
    ]);
  });
}

function plainly(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded; // not percent-encoded after all
  }
}
