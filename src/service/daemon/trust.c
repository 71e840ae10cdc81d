#include "trust.h"

#include "clock.h"
#include "instance.h"
#include "ownership.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

enum {
	DAY_S = 86400,
	WARN_DAYS = 30,
	/* How often the node warns of a certificate's end: once a day, and in the last day every
	 * hour. */
	WARN_AGAIN_S = DAY_S,
	WARN_LAST_S = 3600,
};

static void warn_of_readers(const char *option, const char *path)
{
	struct stat status;

	if (path != NULL && stat(path, &status) == 0 && (status.st_mode & S_IROTH) != 0)
		log_line(LEVEL_WARNING,
		         "%s '%s': every user of this host can read this key: chmod 600 it, and if "
		         "somebody may have read it, replace it",
		         option, path);
}

/* Can only root and the node's user change the files? */
static int judge_files(const struct credentials_files *files, struct problem *problem)
{
	if (ownership_judge(files->ca, S_IFREG, "--tls-ca", problem) != 0 ||
	    ownership_judge(files->certificate, S_IFREG, "--tls-cert", problem) != 0 ||
	    ownership_judge(files->key, S_IFREG, "--tls-key", problem) != 0)
		return -1;
	return files->ca_key == NULL
	               ? 0
	               : ownership_judge(files->ca_key, S_IFREG, "--tls-ca-key", problem);
}

/* Returns NULL, after logging the reason, if the files are wrong or are not this node's. */
static struct credentials *load(const struct daemon *daemon)
{
	struct problem problem;
	struct credentials *credentials = NULL;

	if (judge_files(&daemon->options->tls, &problem) == 0)
		credentials = credentials_load(&daemon->options->tls, &problem);
	if (credentials == NULL) {
		log_line(LEVEL_ERROR, "%s", problem.text);
		return NULL;
	}
	const struct certificate_holder *holder = credentials_holder(credentials);
	if (holder->role == CERTIFICATE_NODE && strcmp(holder->name, daemon_name(daemon)) == 0) {
		warn_of_readers("--tls-key", daemon->options->tls.key);
		warn_of_readers("--tls-ca-key", daemon->options->tls.ca_key);
		return credentials;
	}
	log_line(LEVEL_ERROR,
	         "--tls-cert '%s': it is for the %s '%s', and this is the node '%s': 'baton cert "
	         "node %s' makes the right one",
	         daemon->options->tls.certificate, certificate_role_text(holder->role),
	         holder->name, daemon_name(daemon), daemon_name(daemon));
	credentials_free(credentials);
	return NULL;
}

int trust_open(struct daemon *daemon)
{
	if (daemon->options->tls.ca == NULL)
		return 0;
	/* Keep the key out of core dumps, and out of reach of other processes of the same user. */
	prctl(PR_SET_DUMPABLE, 0);
	daemon->credentials = load(daemon);
	if (daemon->credentials == NULL)
		return -1;
	trust_watch(daemon);
	return 0;
}

void trust_reload(struct daemon *daemon)
{
	if (daemon->credentials == NULL)
		return;
	struct credentials *credentials = load(daemon);
	if (credentials == NULL) {
		log_line(LEVEL_ERROR, "SIGHUP: the certificates from before stay in use");
		return;
	}
	credentials_free(daemon->credentials);
	daemon->credentials = credentials;
	member_renew_credentials(daemon->member, credentials);
	log_line(LEVEL_INFO,
	         "SIGHUP: new connections use the certificates that are in the files now");
	daemon->end_told_at = 0;
	trust_watch(daemon);
}

/* Warns before and after the end of a certificate. After it has expired, open connections stay, but
 * no new ones can be made. */
void trust_watch(struct daemon *daemon)
{
	if (daemon->credentials == NULL)
		return;
	time_t left = credentials_end(daemon->credentials) - time(NULL);
	uint64_t now = daemon->loop.now;
	uint64_t again_s = left < DAY_S ? WARN_LAST_S : WARN_AGAIN_S;
	if (left > (time_t)WARN_DAYS * DAY_S ||
	    (daemon->end_told_at != 0 && now - daemon->end_told_at < again_s * 1000 * LOOP_MS))
		return;
	daemon->end_told_at = now;
	if (left <= 0)
		log_line(LEVEL_ERROR,
		         "--tls-cert: the certificate, or its CA, has expired: no new connection "
		         "can be made. Replace the files, then send SIGHUP");
	else if (left < DAY_S)
		log_line(LEVEL_WARNING,
		         "--tls-cert: the certificate, or its CA, expires in %ld minutes: replace "
		         "the "
		         "files, then send SIGHUP",
		         (long)left / 60);
	else
		log_line(LEVEL_WARNING,
		         "--tls-cert: the certificate, or its CA, expires in %ld days: replace the "
		         "files, then send SIGHUP",
		         (long)left / DAY_S);
}
