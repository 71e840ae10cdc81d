/*
 * Feeds bytes as the file of `baton node --config`. It must not crash, and an error must name the
 * line where it is.
 */
#include "must.h"
#include "node_words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node_words words;
	struct problem problem = {""};
	char path[] = "/tmp/fuzz_config.XXXXXX";
	int fd = mkstemp(path);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	node_words_init(&words);
	if (node_words_read_file(&words, path, &problem) != 0)
		must(strncmp(problem.text, path, strlen(path)) == 0 &&
		     problem.text[strlen(path)] == ':');
	node_words_free(&words);
	unlink(path);
	close(fd);
	return 0;
}
