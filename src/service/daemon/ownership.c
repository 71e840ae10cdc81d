#include "ownership.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as many links as the kernel follows */

/* A way from / to the path. */
struct way {
	const char *what, *path;
	char at[PATH_MAX];   /* what was reached so far, without links; "" is the root */
	char rest[PATH_MAX]; /* what is still to be followed from there */
	unsigned links_count;
	struct problem *problem;
};

static int fails(const struct way *way, int error)
{
	struct stat found;

	/* A link of /proc leads to an open file whatever its text says: /dev/stdin, for example. */
	if (error == ENOENT && stat(way->path, &found) == 0)
		return problem_set(way->problem,
		                   "%s '%.200s' was removed, so nobody can tell whether others "
		                   "could change it: give a file that is there",
		                   way->what, way->path);
	return problem_set(way->problem, "%s '%.200s': %s", way->what, way->path, strerror(error));
}

/* Takes the first word of the rest. Returns false if there is none. */
static bool next_word(struct way *way, char word[NAME_MAX + 1])
{
	char *rest = way->rest + strspn(way->rest, "/");
	size_t size = strcspn(rest, "/");

	snprintf(word, NAME_MAX + 1, "%.*s", (int)size, rest);
	memmove(way->rest, rest + size, strlen(rest + size) + 1);
	return size > 0;
}

/* Goes on where the link leads to; a relative link, from its folder. */
static int follow(struct way *way, const char *link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t size = readlink(link, target, sizeof(target));

	if (++way->links_count > LINKS_MAX)
		return fails(way, ELOOP);
	if (size < 0)
		return fails(way, errno);
	if ((size_t)size + strlen(way->rest) >= sizeof(rest))
		return fails(way, ENAMETOOLONG);
	memcpy(rest, target, (size_t)size);
	memcpy(rest + size, way->rest, strlen(way->rest) + 1);
	memcpy(way->rest, rest, sizeof(rest));
	if (rest[0] == '/')
		way->at[0] = '\0';
	return 0;
}

/* Judges the owner of a folder or a link on the way, or of its end. */
static int judge_owner(const struct way *way, const char *step, const struct stat *found)
{
	if (found->st_uid == 0 || found->st_uid == geteuid())
		return 0;
	return problem_set(way->problem,
	                   "%s '%.150s': the %s '%.150s' belongs to uid %u: its owner must be root "
	                   "or the node's user, uid %u",
	                   way->what, way->path,
	                   S_ISLNK(found->st_mode)   ? "link"
	                   : S_ISDIR(found->st_mode) ? "folder"
	                                             : "file",
	                   step, found->st_uid, geteuid());
}

/* Judges who can replace what is in a folder on the way. */
static int judge_folder(const struct way *way, const char *folder, const struct stat *found)
{
	if ((found->st_mode & S_IWOTH) == 0 || (found->st_mode & S_ISVTX) != 0)
		return 0;
	return problem_set(way->problem,
	                   "%s '%.150s': the folder '%.150s' can be written by others (mode "
	                   "%04o): chmod o-w it",
	                   way->what, way->path, folder, found->st_mode & 07777U);
}

static const char *kind_of(mode_t mode)
{
	return S_ISFIFO(mode)   ? "a pipe"
	       : S_ISSOCK(mode) ? "a socket"
	       : S_ISDIR(mode)  ? "a folder"
	       : S_ISREG(mode)  ? "a regular file"
	                        : "a device";
}

static int judge_kind(const struct way *way, mode_t type, const struct stat *found)
{
	if ((found->st_mode & S_IFMT) == type)
		return 0;
	return problem_set(way->problem, "%s '%.200s' is not %s but %s%s", way->what, way->path,
	                   kind_of(type), kind_of(found->st_mode),
	                   type == S_IFREG ? ": give a file that only its owner can write" : "");
}

static int judge_end(const struct way *way, mode_t type, const struct stat *found)
{
	if (judge_kind(way, type, found) != 0)
		return -1;
	if ((found->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return problem_set(
		        way->problem,
		        "%s '%.200s' can be written by others (mode %04o): chmod go-w it",
		        way->what, way->path, found->st_mode & 07777U);
	return 0;
}

/* Takes one step of the way: to a folder, through a link, or to the end. */
static int take_step(struct way *way, const char *word, struct stat *ret_found)
{
	char next[PATH_MAX];
	int size = snprintf(next, sizeof(next), "%s/%s", way->at, word);

	if (size < 0 || (size_t)size >= sizeof(next))
		return fails(way, ENAMETOOLONG);
	if (lstat(next, ret_found) != 0)
		return fails(way, errno);
	if (judge_owner(way, next, ret_found) != 0)
		return -1;
	if (S_ISLNK(ret_found->st_mode))
		return follow(way, next);
	bool last = way->rest[strspn(way->rest, "/")] == '\0';
	if (!last && judge_folder(way, next, ret_found) != 0)
		return -1;
	char *slash = strrchr(way->at, '/');
	if (strcmp(word, "..") == 0 && slash != NULL)
		*slash = '\0';
	else if (strcmp(word, "..") != 0 && strcmp(word, ".") != 0)
		memcpy(way->at, next, sizeof(next));
	return 0;
}

int ownership_judge(const char *path, mode_t type, const char *what, struct problem *problem)
{
	struct way way = {.what = what, .path = path, .problem = problem};
	char word[NAME_MAX + 1], folder[PATH_MAX] = "";
	struct stat found;

	if (path[0] == '\0')
		return fails(&way, ENOENT);
	/* The way to a pipe (/dev/fd/63) cannot be followed. */
	if (stat(path, &found) == 0 && judge_kind(&way, type, &found) != 0)
		return -1;
	if (path[0] != '/' && getcwd(folder, sizeof(folder)) == NULL)
		return fails(&way, errno);
	int size = snprintf(way.rest, sizeof(way.rest), "%s/%s", folder, path);
	if (size < 0 || (size_t)size >= sizeof(way.rest))
		return fails(&way, ENAMETOOLONG);
	if (stat("/", &found) != 0 || judge_owner(&way, "/", &found) != 0 ||
	    judge_folder(&way, "/", &found) != 0)
		return -1;
	while (next_word(&way, word)) {
		if (take_step(&way, word, &found) != 0)
			return -1;
	}
	return judge_end(&way, type, &found);
}
