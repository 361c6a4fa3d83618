/**
 * TEST ONLY: a self-signed certificate for localhost, 127.0.0.1 and ::1 and its private key, for the embedded
 * platform's `tls` setting. The key is public by being here; it protects nothing and must be used nowhere else.
 *
 * It sits in a module, not in .pem files, so that the tests (CommonJS) and the commands (ES modules) find it alike.
 * Valid 2020 to 2120; made by `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes` and
 * `openssl ca -selfsign`.
 */
export const testOnlyCertificate = `-----BEGIN CERTIFICATE-----
MIIBsjCCAVigAwIBAgIBATAKBggqhkjOPQQDAjAmMSQwIgYDVQQDDBt0ZXN0LW9u
bHkgZW1iZWRkZWQgcGxhdGZvcm0wIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEw
MDAwMDBaMCYxJDAiBgNVBAMMG3Rlc3Qtb25seSBlbWJlZGRlZCBwbGF0Zm9ybTBZ
MBMGByqGSM49AgEGCCqGSM49AwEHA0IABCNI9s8zgWoQk/CHbXUOHEhVbc5HgcZm
bkWH4iqRJhSTIsiKhww6ZLJZq4luyBmvSJaYQ8CIhFEA9dvnh/exQ2WjdTBzMCwG
A1UdEQQlMCOCCWxvY2FsaG9zdIcEfwAAAYcQAAAAAAAAAAAAAAAAAAAAATAPBgNV
HRMBAf8EBTADAQH/MBMGA1UdJQQMMAoGCCsGAQUFBwMBMB0GA1UdDgQWBBSqb0dz
dD9shJ7IB1klz2Bu5/nJtTAKBggqhkjOPQQDAgNIADBFAiAdINp89VFs7VFrGMGF
6sXtsYAiuXAaT24tz/tVGmJ3pAIhANK8tckKV1evkbn+NfyPCCj9ISu1tTvWJ1MZ
+ZiCTCqA
-----END CERTIFICATE-----
`;

export const testOnlyPrivateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgk2YWIrK+yoF/CObD
/tn19W7+N4Sg3KAFBPmgLA+w5VyhRANCAAQjSPbPM4FqEJPwh211DhxIVW3OR4HG
Zm5Fh+IqkSYUkyLIiocMOmSyWauJbsgZr0iWmEPAiIRRAPXb54f3sUNl
-----END PRIVATE KEY-----
`;
