/** Made up, and shaped like those of real services. */
export const BODY = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6';
export const SECRETS = [
  `sk-ant-api03-${BODY}`,
  `sk-proj-${BODY}`,
  `sk-${BODY}`,
  `ghp_${BODY}`,
  `gho_${BODY}`,
  `github_pat_${BODY}`,
  `glpat-${BODY}`,
  `xoxb-123-${BODY}`,
  'AKIAIOSFODNN7EXAMPLE',
  `AIza${BODY}`,
  `npm_${BODY}`,
  `sk_live_${BODY}`,
  `SG.${BODY.slice(0, 22)}.${BODY}`,
  `pypi-AgEIcHlwaS5vcmc${BODY}`,
  `dop_v1_${BODY}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${BODY}`,
  '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE+/=\n-----END RSA PRIVATE KEY-----',
];
