package account

// passkeyProviders are the names of products that store passkeys, by AAGUID. Each row has its source: a publication of
// the vendor, a list that vendors maintain, or a list from the FIDO Metadata Service. All were read on 2026-11-27.
// Synced passkeys have no attestation, so the name only helps the user to find a passkey.
var passkeyProviders = map[string]string{
	// https://web.dev/articles/webauthn-aaguid
	"ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4": "Google Password Manager",
	// https://developer.apple.com/wwdc23/10263, the attestation of managed devices.
	"dd4ec289-e01d-41c9-bb89-70fa845d4bf2": "iCloud Keychain",
	// https://github.com/bitwarden/clients, fido2-authenticator.service.ts.
	"d548826e-79b4-db40-a3d8-11116f7e8349": "Bitwarden",
	// https://github.com/keepassxreboot/keepassxc, src/browser/BrowserPasskeys.cpp.
	"fdb141b2-5d84-443e-8a35-4698c205a502": "KeePassXC",
	// https://github.com/protonpass/proton-pass-common. The bytes are the text ProtonPassProton.
	"50726f74-6f6e-5061-7373-50726f746f6e": "Proton Pass",
	// The bytes are the text SAMSUNG.
	"53414d53-554e-4700-0000-000000000000": "Samsung Pass",

	// The vendors added these to https://github.com/passkeydeveloper/passkey-authenticator-aaguids, as of 2026-08-07
	// (commit 47b6f84). SDKs and tools of developers are left out.
	"bada5566-a7aa-401f-bd96-45619a55120d": "1Password",
	"a11a5faa-9f32-4b8c-8c5d-2f7d13e8c942": "AliasVault",
	"fbfc3007-154e-4ecc-8c0b-6e020557d7bd": "Apple Passwords",
	"a4a2d88e-9796-4356-9164-e2a5a8bd019c": "Avast Password Manager",
	"6bb49926-160a-4306-a100-4eb39ba6ac45": "AVG Password Manager",
	"e7db2bd3-f2fe-4d71-ad78-7e7aa166cfd1": "Avira Password Manager",
	"adce0002-35bc-c60a-648b-0b25f1f05503": "Chrome on Mac",
	"531126d6-e717-415c-9320-3d9aa6981239": "Dashlane",
	"de503f9c-21a4-4f76-b4b7-558eb55c6f89": "Devolutions",
	"771b48fd-d3d4-4f74-9232-fc157ab0507a": "Edge on Mac",
	"f3809540-7f14-49c1-a8b3-8f813b225541": "Enpass",
	"d2717a32-9851-48a8-9961-b264c97a411a": "Fenko Vault",
	"d49b2120-b865-4191-8cea-be84a52b0485": "Heimlane Vault",
	"da583154-ce16-4cdf-9fe6-1dba788c0998": "Hey Be Safe",
	"39a5647e-1853-446c-a1f6-a79bae9f5bc7": "IDmelon",
	"bfc748bb-3429-4faa-b9f9-7cfa9f3b76d0": "iPasswords",
	"a10c6dd9-465e-4226-8198-c7c44b91c555": "Kaspersky Password Manager",
	"eaecdef2-1c31-5634-8639-f1cbd9c00a08": "KeePassDX",
	"9addb28c-b46f-4402-808f-019651441ff3": "KeePassPasskey",
	"0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6": "Keeper",
	"b78a0a55-6ef8-d246-a042-ba0f6d55050c": "LastPass",
	"22248c4c-7a12-46e2-9a41-44291b373a4d": "LogMeOnce",
	"d3452668-01fd-4c12-926c-83a4204853aa": "Microsoft Password Manager",
	"b84e4048-15dc-4dd0-8640-f4f60813c8af": "NordPass",
	"fa37f553-f9b6-4adb-ac53-8bbb57ebdf0d": "Norton Password Manager",
	"5ca471bb-a56d-46ad-a496-67e70e9ed9fb": "Parcel",
	"87f5ec51-f721-4feb-9fe4-be18c4971894": "PassCard",
	"70617373-7761-6c6c-6669-646f32303236": "Passwall",
	"d350af52-0351-4ba2-acd3-dfeeadc3f764": "pwSafe",
	"65c97700-f5ef-4d5c-8a42-f30e45ac94b7": "Royal Vault",
	"e8b7f4a2-c3d5-e6f7-890a-b1c2d3e4f567": "Sherlocked",
	"d9be9d39-e6a6-4c28-a581-32b044d986e4": "Sticky Password Manager",
	"891494da-2c90-4d31-a9cd-4eab0aed1309": "Sésame",
	"cc45f64e-52a2-451b-831a-4edd8022a202": "ToothPic Passkey Provider",
	"45e3057e-b2f9-48ed-912f-9b901e153b16": "Uniqkey",
	"08987058-cadc-4b81-b6e1-30de50dcbe96": "Windows Hello",
	"9ddd1817-af5a-4672-a2b9-3e3dd95000a9": "Windows Hello",
	"6028b017-b1d4-4c02-b4b3-afcdafc96bb2": "Windows Hello",
	"b35a26b2-8f6e-4697-ab1d-d44db4da28c6": "Zoho Vault",

	// https://learn.microsoft.com/entra/identity/authentication/concept-fido2-hardware-vendor, which lists FIDO Metadata
	// Service version 285.
	"42b4fb4a-2866-43b2-9bf7-6c6669c2e5d3": "Google Titan Security Key",
	"19083c3d-8383-4b18-bc03-8f1c9ab2fd1b": "YubiKey 5",
	"cb69481e-8ff7-4039-93ec-0a2729a154a8": "YubiKey 5",
	"ee882879-721c-4913-9775-3dfcce97072a": "YubiKey 5",
	"ff4dac45-ede8-4ec2-aced-cf66103f4335": "YubiKey 5",
	"24673149-6c86-42e7-98d9-433fb5b73296": "YubiKey 5Ci",
	"a02167b9-ae71-4ac7-9a07-06432ebb6f1c": "YubiKey 5Ci",
	"c5ef55ff-ad9a-4b9f-b580-adebafe026d0": "YubiKey 5Ci",
	"2fc0579f-8113-47ea-b116-bb5a8db9202a": "YubiKey 5 NFC",
	"a25342c0-3cdc-4414-8e46-f4807fca511c": "YubiKey 5 NFC",
	"d7781e5d-e353-46aa-afe2-3ca49f13332a": "YubiKey 5 NFC",
	"fa2b99dc-9e39-4257-8f92-4a30d23c4118": "YubiKey 5 NFC",
	"57f7de54-c807-4eab-b1c6-1c9be7984e92": "YubiKey 5 FIPS",
	"73bb0cd4-e502-49b8-9c6f-b59445bf720b": "YubiKey 5 FIPS",
	"c1f9a0bc-1dd2-404a-b27f-8e29047a43fd": "YubiKey 5 NFC FIPS",
	"fcc0118f-cd45-435b-8da1-9782b2da0715": "YubiKey 5 NFC FIPS",
	"7b96457d-e3cd-432b-9ceb-c9fdd7ef7432": "YubiKey 5Ci FIPS",
	"85203421-48f9-4355-9bc8-8a53846e5083": "YubiKey 5Ci FIPS",
	"7409272d-1ff9-4e10-9fc9-ac0019c124fd": "YubiKey Bio",
	"d8522d9f-575b-4866-88a9-ba99fa02f35b": "YubiKey Bio",
	"dd86a2da-86a0-4cbe-b462-4bd31f57bc6f": "YubiKey Bio",
	"34744913-4f57-4e6e-a527-e9ec3c4b94e6": "YubiKey Bio",
	"7d1351a6-e097-4852-b8bf-c9ac5c9ce4a3": "YubiKey Bio",
	"90636e1f-ef82-43bf-bdcf-5255f139d12f": "YubiKey Bio",
}
