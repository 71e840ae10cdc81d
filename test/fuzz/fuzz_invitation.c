/*
 * Feeds bytes as what strangers send at the door for guests, and as what nodes ask each other about
 * invitations. It must not crash. What was read is written in the same way again, and the verdict
 * on the bytes does not change when more arrive. The first byte of the input says which decoder
 * gets the rest.
 */
#include "enrolment.h"
#include "inquiry.h"
#include "must.h"
#include "outbuffer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum decoder { RECORD, QUESTION, ANSWER, TOKEN, DECODERS };

static void check_record(const uint8_t *data, size_t size, struct out *out)
{
	struct enrolment enrolment;
	size_t taken = 0;
	enum enrolment_kind kind = enrolment_read(data, size, &enrolment, &taken);

	if (kind == ENROLMENT_MORE)
		must(size < ENROLMENT_SIZE_MAX);
	if (kind == ENROLMENT_WHOLE) {
		must(taken <= size && taken <= ENROLMENT_SIZE_MAX);
		out_clear(out);
		enrolment_write(out, &enrolment);
		if (enrolment.type == RECORD_REFUSAL || enrolment.type == RECORD_ELSEWHERE)
			must(out->bytes_count <= taken); /* a text ends at its first 0 */
		else
			must(out->bytes_count == taken && memcmp(out->bytes, data, taken) == 0);
	}
	for (size_t cut = size; cut > 0; cut -= 1 + cut / 16) {
		enum enrolment_kind part = enrolment_read(data, cut - 1, &enrolment, &taken);
		must(part == ENROLMENT_MORE || part == kind);
	}
}

static void check_question(const uint8_t *data, size_t size)
{
	struct inquiry_question question;

	if (!inquiry_question_read(data, size, &question))
		return;
	must(strlen(question.name) <= ENTRY_NAME_MAX && question.entry >= data &&
	     question.entry + question.entry_size == data + size);
}

static void check_answer(const uint8_t *data, size_t size, struct out *out)
{
	struct inquiry_answer answer;

	if (!inquiry_answer_read(data, size, &answer))
		return;
	inquiry_answer_write(out, &answer);
	must(out->bytes_count == size && memcmp(out->bytes, data, size) == 0);
}

static void check_token(const char *text)
{
	char again[TOKEN_TEXT_SIZE + 1];
	struct problem problem;
	struct token token;

	if (token_read(text, &token, &problem) != 0)
		return;
	token_write(&token, again);
	must(strstr(text, again) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct out out;

	if (size == 0)
		return 0;
	/* Use memory of its own, so that reading beyond the end is noticed. */
	uint8_t *copy = malloc(size);
	must(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	copy[size - 1] = '\0';
	char *text = strdup((const char *)copy);
	uint8_t *exact = realloc(copy, size - 1 + (size == 1));
	must(text != NULL && exact != NULL);
	out_init(&out);
	switch ((enum decoder)(data[0] % DECODERS)) {
	case RECORD:
		check_record(exact, size - 1, &out);
		break;
	case QUESTION:
		check_question(exact, size - 1);
		break;
	case ANSWER:
		check_answer(exact, size - 1, &out);
		break;
	case TOKEN:
	case DECODERS:
		check_token(text);
		break;
	}
	out_free(&out);
	free(text);
	free(exact);
	return 0;
}
