#include "lease_page.h"

#include "instance.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns 0, or -1 and errno. */
static int make_page(struct word_page *page)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	page->fd = memfd_create("baton-lease", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (page->fd < 0 || ftruncate(page->fd, (off_t)size) != 0)
		return -1;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
	if (memory == MAP_FAILED)
		return -1;
	page->word = memory;
	return fcntl(page->fd, F_ADD_SEALS, seals);
}

void lease_page_open(struct word_page *page)
{
	*page = (struct word_page){.fd = -1};
	if (make_page(page) == 0)
		return;
	log_line(LEVEL_WARNING,
	         "the lease cannot be published: %s: clients ask for it instead (LEASE)",
	         strerror(errno));
	lease_page_close(page);
}

void lease_page_close(struct word_page *page)
{
	if (page->word != NULL)
		munmap(page->word, (size_t)sysconf(_SC_PAGESIZE));
	if (page->fd >= 0)
		close(page->fd);
	*page = (struct word_page){.fd = -1};
}

void lease_page_publish(struct daemon *daemon)
{
	struct word_page *page = &daemon->lease_page;
	uint64_t word = node_lease_word(daemon->node);

	if (page->word == NULL || word == page->published)
		return;
	page->published = word;
	atomic_store_explicit(page->word, word, memory_order_release);
}
