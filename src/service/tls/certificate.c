#include "certificate.h"

#include "must.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SERIAL_BYTES = 16,
	/* A certificate is valid from a little before now on, so that a host whose clock is behind
	 * can use it. */
	EARLY_S = 300,
	DAY_S = 86400,
	VERSION_3 = 2, /* version 3, because X.509 counts from 0 */
};

static const char *const role_texts[] = {
        [CERTIFICATE_NODE] = "node", [CERTIFICATE_CLIENT] = "client"};

const char *certificate_role_text(enum certificate_role role)
{
	return role_texts[role];
}

/* --- reading --- */

/* Returns false if the URI is not in the form that baton writes. */
static bool read_uri(const ASN1_STRING *uri, struct certificate_holder *ret_holder)
{
	const char *text = (const char *)ASN1_STRING_get0_data(uri);
	size_t size = (size_t)ASN1_STRING_length(uri);
	char prefix[24];

	for (unsigned role = CERTIFICATE_NODE; role <= CERTIFICATE_CLIENT; role++) {
		size_t begins =
		        (size_t)snprintf(prefix, sizeof(prefix), "baton:%s:", role_texts[role]);
		if (size <= begins || size - begins > CERTIFICATE_NAME_MAX ||
		    memcmp(text, prefix, begins) != 0 || memchr(text, '\0', size) != NULL)
			continue;
		ret_holder->role = (enum certificate_role)role;
		memcpy(ret_holder->name, text + begins, size - begins);
		ret_holder->name[size - begins] = '\0';
		return true;
	}
	return false;
}

int certificate_read_holder(const X509 *certificate, struct certificate_holder *ret_holder)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
	int found = 0;

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		if (name->type == GEN_URI &&
		    read_uri(name->d.uniformResourceIdentifier, ret_holder))
			found++;
	}
	GENERAL_NAMES_free(names);
	return found == 1 ? 0 : -1;
}

time_t certificate_end(const X509 *certificate)
{
	struct tm when = {0};

	return ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &when) == 1 ? timegm(&when) : 0;
}

/* --- making --- */

static bool set_serial(X509 *certificate)
{
	unsigned char bytes[SERIAL_BYTES];
	BIGNUM *number = NULL;
	bool good = RAND_bytes(bytes, sizeof(bytes)) == 1;

	bytes[0] &= 0x7f; /* a serial number must be positive */
	good = good && (number = BN_bin2bn(bytes, sizeof(bytes), NULL)) != NULL &&
	       BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
	BN_free(number);
	return good;
}

static bool set_time(X509 *certificate, uint32_t days)
{
	return X509_gmtime_adj(X509_getm_notBefore(certificate), -EARLY_S) != NULL &&
	       X509_time_adj_ex(X509_getm_notAfter(certificate), (int)days, 0, NULL) != NULL;
}

static bool add_extension(X509 *certificate, X509 *issuer, int kind, const char *value)
{
	X509V3_CTX context;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
	bool good = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return good;
}

static bool add_name(GENERAL_NAMES *names, int type, const void *bytes, size_t size)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_STRING *text =
	        ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);

	if (name == NULL || text == NULL || ASN1_STRING_set(text, bytes, (int)size) != 1) {
		GENERAL_NAME_free(name);
		ASN1_STRING_free(text);
		return false;
	}
	GENERAL_NAME_set0_value(name, type, text); /* from now on `name` owns the text */
	if (sk_GENERAL_NAME_push(names, name) > 0)
		return true;
	GENERAL_NAME_free(name);
	return false;
}

/* Can a host have this name? A node's name need not be a host's name; then it is only in the
 * URI. */
static bool is_host_name(const char *text)
{
	for (const char *c = text; *c != '\0'; c++) {
		if (!isalnum((unsigned char)*c) && strchr(".-_", *c) == NULL)
			return false;
	}
	return *text != '\0';
}

bool certificate_takes_address(const char *text)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET6, text, address) == 1 ||
	       (is_host_name(text) && strlen(text) <= CERTIFICATE_NAME_MAX);
}

static bool add_address(GENERAL_NAMES *names, const char *text)
{
	unsigned char address[sizeof(struct in6_addr)];

	if (inet_pton(AF_INET, text, address) == 1)
		return add_name(names, GEN_IPADD, address, sizeof(struct in_addr));
	if (inet_pton(AF_INET6, text, address) == 1)
		return add_name(names, GEN_IPADD, address, sizeof(struct in6_addr));
	return !is_host_name(text) || add_name(names, GEN_DNS, text, strlen(text));
}

static bool add_names(X509 *certificate, const struct certificate_wish *wish)
{
	static const char *const loopback[] = {"localhost", "127.0.0.1", "::1"};
	GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
	const char *name = wish->holder.name;
	char uri[CERTIFICATE_NAME_MAX + 32];
	int size = snprintf(uri, sizeof(uri), "baton:%s:%s", role_texts[wish->holder.role], name);
	bool good = names != NULL && add_name(names, GEN_URI, uri, (size_t)size);

	if (wish->holder.role == CERTIFICATE_NODE) {
		good = good && add_address(names, name);
		for (size_t i = 0; i < sizeof(loopback) / sizeof(*loopback); i++)
			good = good && add_address(names, loopback[i]);
		for (size_t i = 0; i < wish->addresses_count; i++)
			good = good && add_address(names, wish->addresses[i]);
	}
	good = good && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1;
	sk_GENERAL_NAME_pop_free(names, GENERAL_NAME_free);
	return good;
}

/* X.509 allows a common name of 64 characters at most. A longer name is cut off here; the URI has
 * all of it. */
static bool set_subject(X509 *certificate, const char *name)
{
	enum { COMMON_NAME_MAX = 64 };
	int size = (int)strnlen(name, COMMON_NAME_MAX);

	return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
	                                  (const unsigned char *)name, size, -1, 0) == 1;
}

/* Makes a certificate without extensions, which is not signed yet. */
static X509 *begin(EVP_PKEY *key, const char *name, const X509 *issuer, uint32_t days)
{
	X509 *certificate = X509_new();

	if (certificate != NULL && X509_set_version(certificate, VERSION_3) == 1 &&
	    set_serial(certificate) && set_time(certificate, days) &&
	    set_subject(certificate, name) &&
	    X509_set_issuer_name(certificate,
	                         X509_get_subject_name(issuer != NULL ? issuer : certificate)) ==
	            1 &&
	    X509_set_pubkey(certificate, key) == 1)
		return certificate;
	X509_free(certificate);
	return NULL;
}

static bool finish_ca(X509 *certificate, EVP_PKEY *key)
{
	return add_extension(certificate, certificate, NID_basic_constraints,
	                     "critical,CA:TRUE,pathlen:0") &&
	       add_extension(certificate, certificate, NID_key_usage,
	                     "critical,keyCertSign,cRLSign") &&
	       add_extension(certificate, certificate, NID_subject_key_identifier, "hash") &&
	       X509_sign(certificate, key, EVP_sha256()) > 0;
}

static bool finish(X509 *certificate, const struct certificate_wish *wish, X509 *ca,
                   EVP_PKEY *ca_key)
{
	bool node = wish->holder.role == CERTIFICATE_NODE;

	return add_extension(certificate, ca, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_extension(certificate, ca, NID_key_usage, "critical,digitalSignature") &&
	       add_extension(certificate, ca, NID_ext_key_usage,
	                     node ? "serverAuth,clientAuth" : "clientAuth") &&
	       add_extension(certificate, ca, NID_authority_key_identifier, "keyid") &&
	       add_names(certificate, wish) && X509_sign(certificate, ca_key, EVP_sha256()) > 0;
}

/* --- files --- */

/* Returns NULL and a problem if the file exists. */
static FILE *open_new(const char *path, struct problem *problem)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file == NULL && errno == EEXIST)
		problem_set(problem, "'%.300s' exists, and is not replaced: move it away first",
		            path);
	else if (file == NULL)
		problem_set(problem, "'%.300s' cannot be made: %s", path, strerror(errno));
	return file;
}

static bool close_synced(FILE *file)
{
	bool good = fflush(file) == 0 && fsync(fileno(file)) == 0;

	return fclose(file) == 0 && good;
}

/* Writes both files, or neither. */
static int write_pair(X509 *certificate, EVP_PKEY *key, const char *certificate_path,
                      const char *key_path, struct problem *problem)
{
	FILE *file = open_new(certificate_path, problem);

	if (file == NULL)
		return -1;
	FILE *key_file = open_new(key_path, problem);
	if (key_file == NULL) {
		fclose(file);
		unlink(certificate_path);
		return -1;
	}
	bool good = PEM_write_X509(file, certificate) == 1 &&
	            PEM_write_PKCS8PrivateKey(key_file, key, NULL, NULL, 0, NULL, NULL) == 1;
	int error = errno;
	good = close_synced(key_file) && good;
	good = close_synced(file) && good;
	if (good)
		return 0;
	unlink(certificate_path);
	unlink(key_path);
	return problem_set(problem, "'%.300s' cannot be written: %s", certificate_path,
	                   strerror(error));
}

int certificate_write(const X509 *certificate, const char *path, struct problem *problem)
{
	FILE *file = open_new(path, problem);

	if (file == NULL)
		return -1;
	bool good = PEM_write_X509(file, certificate) == 1;
	int error = errno;
	if (close_synced(file) && good)
		return 0;
	unlink(path);
	return problem_set(problem, "'%.300s' cannot be written: %s", path, strerror(error));
}

FILE *certificate_open(const char *path, const char *what, struct problem *problem)
{
	FILE *file = fopen(path, "re");
	struct stat status;

	if (file == NULL) {
		problem_set(problem, "%s '%.300s': %s", what, path, strerror(errno));
	} else if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
		problem_set(problem, "%s '%.300s': %s", what, path, strerror(EISDIR));
		fclose(file);
		file = NULL;
	}
	return file;
}

static X509 *read_certificate(const char *path, struct problem *problem)
{
	FILE *file = certificate_open(path, "the CA's certificate", problem);

	if (file == NULL)
		return NULL;
	X509 *certificate = PEM_read_X509(file, NULL, NULL, NULL);
	fclose(file);
	if (certificate == NULL)
		problem_set(problem, "the CA's certificate '%.300s' is not a certificate in PEM",
		            path);
	return certificate;
}

/* Refuses to give a password, because there is nobody to ask for it. */
static int no_password(char *room, int size, int writes, void *context)
{
	(void)room;
	(void)size;
	(void)writes;
	(void)context;
	return -1;
}

EVP_PKEY *certificate_read_key(const char *path, const char *what, struct problem *problem)
{
	FILE *file = certificate_open(path, what, problem);
	char room[BUFSIZ];

	if (file == NULL)
		return NULL;
	/* Use a buffer of our own: fclose would free the library's buffer without wiping it. */
	setvbuf(file, room, _IOFBF, sizeof(room));
	EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, no_password, NULL);
	fclose(file);
	OPENSSL_cleanse(room, sizeof(room));
	if (key == NULL) {
		ERR_clear_error();
		problem_set(problem, "%s '%.300s' is not a key in PEM without a password", what,
		            path);
	}
	return key;
}

static EVP_PKEY *new_key(struct problem *problem)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	if (key == NULL)
		problem_set(problem, "OpenSSL cannot make a key on the curve P-256");
	return key;
}

EVP_PKEY *certificate_key(const char *path, struct problem *problem)
{
	if (access(path, F_OK) == 0)
		return certificate_read_key(path, "the key", problem);
	EVP_PKEY *key = new_key(problem);
	FILE *file = key == NULL ? NULL : open_new(path, problem);
	if (file == NULL) {
		EVP_PKEY_free(key);
		return NULL;
	}
	bool good = PEM_write_PKCS8PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1;
	int error = errno;
	if (close_synced(file) && good)
		return key;
	problem_set(problem, "'%.300s' cannot be written: %s", path, strerror(error));
	unlink(path);
	EVP_PKEY_free(key);
	return NULL;
}

void certificate_free_key(EVP_PKEY *key)
{
	EVP_PKEY_free(key);
}

void certificate_digest(const X509 *certificate, uint8_t ret_digest[32])
{
	must(X509_digest(certificate, EVP_sha256(), ret_digest, NULL) == 1);
}

int certificate_make_ca(const char *certificate_path, const char *key_path, uint32_t days,
                        struct problem *problem)
{
	EVP_PKEY *key = new_key(problem);
	int result = -1;

	if (key == NULL)
		return -1;
	X509 *certificate = begin(key, "baton CA", NULL, days);
	if (certificate == NULL || !finish_ca(certificate, key))
		problem_set(problem, "OpenSSL cannot make the CA's certificate");
	else
		result = write_pair(certificate, key, certificate_path, key_path, problem);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return result;
}

/* Returns NULL and a problem on failure. */
static X509 *issue(const struct certificate_wish *wish, EVP_PKEY *key, X509 *ca, EVP_PKEY *ca_key,
                   struct problem *problem)
{
	X509 *certificate = begin(key, wish->holder.name, ca, wish->days);

	if (certificate != NULL && finish(certificate, wish, ca, ca_key))
		return certificate;
	problem_set(problem, "OpenSSL cannot make a certificate for '%.60s'", wish->holder.name);
	X509_free(certificate);
	return NULL;
}

/* Returns NULL if these bytes are not a public key of the kind that nodes have. */
static EVP_PKEY *read_public(const uint8_t *bytes, size_t size)
{
	const unsigned char *next = bytes;
	EVP_PKEY *key = d2i_PUBKEY(NULL, &next, (long)size);
	char curve[32] = "";

	if (key != NULL && next == bytes + size && EVP_PKEY_is_a(key, "EC") == 1 &&
	    EVP_PKEY_get_group_name(key, curve, sizeof(curve), NULL) == 1 &&
	    strcmp(curve, "prime256v1") == 0)
		return key;
	EVP_PKEY_free(key);
	ERR_clear_error();
	return NULL;
}

size_t certificate_sign(const struct certificate_wish *wish, const uint8_t *key, size_t key_size,
                        X509 *ca, EVP_PKEY *ca_key, uint8_t room[CERTIFICATE_SIZE_MAX],
                        struct problem *problem)
{
	EVP_PKEY *public = read_public(key, key_size);

	if (public == NULL) {
		problem_set(problem, "its key is not one on the curve P-256");
		return 0;
	}
	X509 *certificate = issue(wish, public, ca, ca_key, problem);
	EVP_PKEY_free(public);
	int size = certificate == NULL ? 0 : i2d_X509(certificate, NULL);
	if (size > CERTIFICATE_SIZE_MAX)
		size = problem_set(problem, "its certificate has more than %d bytes",
		                   CERTIFICATE_SIZE_MAX);
	if (size > 0)
		i2d_X509(certificate, &room);
	X509_free(certificate);
	return size > 0 ? (size_t)size : 0;
}

static int sign(const struct certificate_wish *wish, X509 *ca, EVP_PKEY *ca_key,
                const char *certificate_path, const char *key_path, struct problem *problem)
{
	EVP_PKEY *key = new_key(problem);
	int result = -1;

	if (key == NULL)
		return -1;
	X509 *certificate = issue(wish, key, ca, ca_key, problem);
	if (certificate != NULL)
		result = write_pair(certificate, key, certificate_path, key_path, problem);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return result;
}

int certificate_make(const struct certificate_wish *wish, const char *ca_certificate_path,
                     const char *ca_key_path, const char *certificate_path, const char *key_path,
                     struct problem *problem)
{
	X509 *ca = read_certificate(ca_certificate_path, problem);
	EVP_PKEY *ca_key =
	        ca == NULL ? NULL : certificate_read_key(ca_key_path, "the CA's key", problem);
	int result = -1;

	if (ca_key != NULL && X509_check_private_key(ca, ca_key) != 1)
		problem_set(problem, "'%.150s' is not the key of '%.150s'", ca_key_path,
		            ca_certificate_path);
	else if (ca_key != NULL && certificate_end(ca) < time(NULL) + (time_t)wish->days * DAY_S)
		problem_set(problem,
		            "the CA '%.150s' ends before %u days have passed: make a new CA, or a "
		            "certificate for fewer --days",
		            ca_certificate_path, wish->days);
	else if (ca_key != NULL)
		result = sign(wish, ca, ca_key, certificate_path, key_path, problem);
	EVP_PKEY_free(ca_key);
	X509_free(ca);
	return result;
}
