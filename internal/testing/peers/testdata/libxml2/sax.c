/*
 * sax FILE TIMES parses a file with the SAX2 parser of libxml2, from memory, with the checks that are on by default.
 * It prints the seconds that all passes took, and the elements, attributes and bytes of text that one pass saw.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libxml/parser.h>

struct counts {
	long elements, attrs, text;
};

static void start(void *ctx, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri, int declared,
		const xmlChar **declarations, int attrs, int defaulted, const xmlChar **values)
{
	struct counts *n = ctx;
	(void)local, (void)prefix, (void)uri, (void)declared, (void)declarations, (void)defaulted, (void)values;
	n->elements++;
	n->attrs += attrs;
}

static void end(void *ctx, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
	(void)ctx, (void)local, (void)prefix, (void)uri;
}

static void text(void *ctx, const xmlChar *s, int len)
{
	(void)s;
	((struct counts *)ctx)->text += len;
}

static char *load(const char *name, long *size)
{
	FILE *f = fopen(name, "rb");
	char *data = NULL;

	if (!f)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (*size = ftell(f)) >= 0 && (data = malloc(*size + 1))) {
		rewind(f);
		if (fread(data, 1, *size, f) != (size_t)*size) {
			free(data);
			data = NULL;
		}
	}
	fclose(f);
	return data;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	xmlSAXHandler sax;
	struct counts n = {0, 0, 0};
	long size, times;
	char *data;
	double began;

	if (argc != 3 || (times = atol(argv[2])) < 1 || !(data = load(argv[1], &size))) {
		fprintf(stderr, "sax: needs a readable file and a number\n");
		return 2;
	}
	memset(&sax, 0, sizeof sax);
	sax.initialized = XML_SAX2_MAGIC;
	sax.startElementNs = start;
	sax.endElementNs = end;
	sax.characters = sax.ignorableWhitespace = sax.cdataBlock = text;
	xmlInitParser();
	began = now();
	for (long i = 0; i < times; i++) {
		memset(&n, 0, sizeof n);
		int err = xmlSAXUserParseMemory(&sax, &n, data, size);
		if (err) {
			fprintf(stderr, "sax: libxml2 error %d\n", err);
			return 1;
		}
	}
	printf("%.9f %ld %ld %ld\n", now() - began, n.elements, n.attrs, n.text);
	free(data);
	xmlCleanupParser();
	return 0;
}
