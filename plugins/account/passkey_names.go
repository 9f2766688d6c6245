package account

// passkeyProviders are the names of products that store passkeys, by AAGUID. Each row has its source: a publication of
// the vendor, or a list from the FIDO Metadata Service. All were read on 2026-11-27. Synced passkeys have no
// attestation, so the name only helps the user to find a passkey.
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
