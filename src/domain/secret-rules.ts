/**
 * Secrets that say what they are, rule by rule. To add one: a line here, and a probe of it in
 * test/domain/secret-rules.test.ts, which fails for a rule without one. No shape may take long on any text: every
 * repetition has an upper bound, and no two that follow each other can take the same characters.
 */
export interface SecretRule {
  name: string;
  shape: RegExp;
  /** Whether what was found is one after all; without it everything that has the shape is. */
  isSecret?: (value: string) => boolean;
}

/** Each begins where no word runs on into it. They are looked for in one pass, so that none has flags of its own. */
export const TOKEN_RULES: readonly SecretRule[] = [
  { name: 'Anthropic', shape: /sk-ant-[\w-]{8,4096}/ },
  { name: 'OpenAI, OpenRouter', shape: /sk-(?:proj|svcacct|admin|or-v1)-[\w-]{8,4096}/ },
  { name: 'GitHub', shape: /(?:gh[pousr]_[A-Za-z0-9]{16,4096}|github_pat_\w{16,4096})/ },
  { name: 'GitLab', shape: /gl(?:pat|ptt|dt|rt|cbt|soat|ft)-[\w-]{16,4096}/ },
  { name: 'Slack', shape: /(?:xox[abeoprs]-[\w-]{8,4096}|xapp-[\w-]{16,4096})/ },
  { name: 'AWS', shape: /(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/ },
  { name: 'Google', shape: /(?:AIza[\w-]{30,4096}|ya29\.[\w-]{20,4096})/ },
  { name: 'npm', shape: /npm_[A-Za-z0-9]{30,4096}/ },
  { name: 'Hugging Face', shape: /hf_[A-Za-z0-9]{30,4096}/ },
  { name: 'Groq', shape: /gsk_[A-Za-z0-9]{30,4096}/ },
  { name: 'Stripe', shape: /(?:[sr]k|pk|whsec)_(?:live|test)_[A-Za-z0-9]{10,4096}/ },
  { name: 'SendGrid', shape: /SG\.[\w-]{16,64}\.[\w-]{16,128}/ },
  { name: 'DigitalOcean', shape: /do[opr]_v1_[A-Za-z0-9]{30,4096}/ },
  { name: 'PyPI', shape: /pypi-(?:AgE[\w-]{16,4096}|[A-Za-z0-9_]{30,4096})/ },
  { name: 'age', shape: /AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,4096}/ },
  { name: 'Vault', shape: /hv[sbr]\.[\w-]{20,4096}/ },
  { name: 'Doppler', shape: /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{20,4096}/ },
  { name: 'Linear', shape: /lin_(?:api|oauth)_[A-Za-z0-9]{20,4096}/ },
  { name: 'Notion', shape: /(?:secret|ntn)_[A-Za-z0-9]{40,4096}/ },
  { name: 'Shopify', shape: /shp(?:at|ca|pa|ss|ua)_[A-Fa-f0-9]{20,4096}/ },
  { name: 'Twilio', shape: /SK[0-9a-f]{32}(?![A-Za-z0-9])/ },
  { name: 'Mailgun', shape: /key-[0-9a-f]{32}(?![A-Za-z0-9])/ },
  { name: 'Databricks', shape: /dapi[0-9a-f]{32}(?![A-Za-z0-9])/ },
  { name: 'Atlassian', shape: /ATATT3[\w=-]{20,4096}/ },
  { name: 'Supabase', shape: /sbp_[0-9a-f]{30,4096}/ },
];

/** Anywhere in a text. */
export const SHAPE_RULES: readonly SecretRule[] = [
  {
    name: 'private key',
    shape:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\w+/=\s\\,:]|-(?!-)){0,16384}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  },
  {
    name: 'PGP private key',
    shape:
      /-----BEGIN PGP PRIVATE KEY BLOCK-----(?:[\w+/=\s\\,:.()@]|-(?!-)){0,65536}(?:-----END PGP PRIVATE KEY BLOCK-----)?/g,
  },
  {
    name: 'PuTTY private key',
    shape:
      /(?<=Private-Lines: \d{1,4}(?:\\[rn]|[\r\n]){1,4})(?:[A-Za-z0-9+/=]{1,128}(?:\\[rn]|[\r\n]){1,4}){1,200}(?:Private-MAC: [0-9a-f]{1,128})?/g,
  },
  { name: 'JSON web token', shape: /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,4096}(?:\.[\w-]{0,4096})?/g },
  { name: 'Telegram', shape: /(?:(?<=\/bot)|(?<![\w-]))\d{8,10}:[\w-]{35}(?![\w-])/g },
  { name: 'Twilio, of an account', shape: /(?<=\bAC[0-9a-f]{32}[:\s"',=]{1,4})[0-9a-f]{32}(?![A-Za-z0-9])/g },
  // What opens a chat: the part after the service's address.
  {
    name: 'Slack webhook',
    shape: /(?<=\bhooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{8,4096}/g,
  },
  {
    name: 'Discord webhook',
    shape: /(?<=\bdiscord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/)\d{5,30}\/[\w-]{8,4096}/g,
  },
  // The signature of an address that opens it for anyone.
  {
    name: 'signed address',
    shape: /(?<=[?&;](?:sig|signature|x-(?:amz|goog)-signature)=)[\w%+/=.~-]{8,4096}/gi,
  },
  {
    name: 'Docker login',
    shape: /(?<="auth\\?"\s{0,4}:\s{0,4}\\?")[A-Za-z0-9+/=]{8,4096}(?=\\?")/g,
    isSecret: isUserAndPassword,
  },
];

/** Words of which the last group is the secret, and what is before it stays. */
export const PLACE_RULES: readonly SecretRule[] = [
  {
    name: 'cookie',
    shape:
      /(\b(?:set-)?cookie\\?["']?[ \t]{0,4}:[ \t]{0,4}\\?["']?)([^\s=:;,"'\\[\]]{1,128}=(?:[^"'\r\n\\]|(?<==)"[^"\r\n]{0,4096}"){1,4096})/gi,
  },
  {
    name: 'cookie option',
    shape: /(\s--cookie[ \t=]{1,4}["']?)([^\s=:;,"'\\[\]]{1,128}=[^"'\r\n\\]{1,4096})/g,
  },
  {
    // Of other programs `-u` is a user and a group.
    name: 'curl',
    shape:
      /(\bcurl\b[^\r\n]{0,300}?[\s"'](?:-u|--user|-U|--proxy-user)[\s"',=\\]{1,6}[^\s:"'\\,]{1,128}:)([^\s"'\\]{1,256})/g,
  },
  { name: '.netrc', shape: /(\blogin\s{1,8}[^\s[\]]{1,128}\s{1,8}password\s{1,8})([^\s[\]]{1,256})/g },
  {
    name: 'MySQL',
    shape:
      /(\b(?:mysql|mariadb)(?:-?(?:dump|admin|import|show|check))?\b[^\r\n]{0,300}?\s["']?-p["']?)([^\s"'\\[\]]{1,256})/g,
  },
  { name: 'sshpass', shape: /(\bsshpass\s[^\r\n]{0,100}?-p[\s"']{0,4})([^\s"'\\[\]]{1,256})/g },
  {
    name: 'XML',
    shape:
      /(<[\w:.-]{0,60}(?:password|passwd|passphrase|secret|token|api-?key)(?:\s[^<>]{0,200})?>)([^<>\s[\]][^<>\r\n[\]]{0,4095})(?=<\/)/gi,
    isSecret: (value) =>
      value.length >= 4 && !/^(?:string|number|boolean|null|none|\$\{.*|%.*%|\{\{.*)$/i.test(value),
  },
];

/** As Docker keeps it: `user:password`, in base64. */
function isUserAndPassword(encoded: string): boolean {
  return /^[\x20-\x7e]{1,256}:[\x20-\x7e]{1,4096}$/.test(Buffer.from(encoded, 'base64').toString('latin1'));
}
