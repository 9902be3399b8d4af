// A CUDA driver without a GPU, for tests of the binding: it keeps the rules of the
// real one that the binding must keep (contexts are current on threads, work in a
// stream is done when something waits for it, pinned memory is read then, captures
// belong to a thread), writes down every call, and fails where a test says so. Its
// kernels are C functions, found by their names.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
       INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
       CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, WRONG_THREAD = 908 };

// ---- what tests say and ask

static char text[1 << 20];
static int written;
static struct { char name[64]; int nth, code; } failures[32];
static int nfailures;
static struct { char name[32]; long value; } settings[32];
static int nsettings;

static long setting(const char *name, long otherwise) {
	for (int i = 0; i < nsettings; i++)
		if (!strcmp(settings[i].name, name)) return settings[i].value;
	return otherwise;
}

static void note(const char *format, ...) {
	va_list list;
	va_start(list, format);
	written += snprintf(text + written, sizeof text - written, "%ld ", (long)syscall(SYS_gettid));
	written += vsnprintf(text + written, sizeof text - written, format, list);
	written += snprintf(text + written, sizeof text - written, "\n");
	va_end(list);
}

// failure returns how this call of a function is to fail, or OK.
static int failure(const char *name) {
	for (int i = 0; i < nfailures; i++)
		if (!strcmp(failures[i].name, name) && --failures[i].nth == 0) return failures[i].code;
	return OK;
}

#define CALL(name, ...)                   \
	do {                                  \
		note(name " " __VA_ARGS__);       \
		int r_ = failure(name);           \
		if (r_) return r_;                \
	} while (0)

const char *fake_log(void) { return text; }

void fake_fail(const char *name, int nth, int code) {
	snprintf(failures[nfailures].name, sizeof failures[0].name, "%s", name);
	failures[nfailures].nth = nth;
	failures[nfailures++].code = code;
}

void fake_set(const char *name, long value) {
	for (int i = 0; i < nsettings; i++)
		if (!strcmp(settings[i].name, name)) {
			settings[i].value = value;
			return;
		}
	snprintf(settings[nsettings].name, sizeof settings[0].name, "%s", name);
	settings[nsettings++].value = value;
}

// ---- memory

#define BASE 0x700000000000ULL
#define BLOCKS 4096
static struct { CUdeviceptr at; size_t bytes; char *data; } blocks[BLOCKS];
static int nblocks;
static CUdeviceptr next = BASE;
static size_t used;
static struct { char *data; size_t bytes; } pinned[BLOCKS];
static int npinned;

static char *device(CUdeviceptr p, size_t bytes) {
	for (int i = 0; i < nblocks; i++)
		if (blocks[i].data && p >= blocks[i].at && p + bytes <= blocks[i].at + blocks[i].bytes) return blocks[i].data + (p - blocks[i].at);
	return NULL;
}

static int is_pinned(const char *p, size_t bytes) {
	for (int i = 0; i < npinned; i++)
		if (pinned[i].data && p >= pinned[i].data && p + bytes <= pinned[i].data + pinned[i].bytes) return 1;
	return 0;
}

// ---- devices and contexts

static int initialized, lost, nstream;
static int retained[8];
static unsigned flags[8];
#define CONTEXT(d) ((void *)(0xc000UL + (d)))
static __thread void *current;

static int ready(void) {
	if (!initialized) return NOT_INITIALIZED;
	if (current < CONTEXT(0) || current >= CONTEXT(8) || !retained[(char *)current - (char *)CONTEXT(0)]) return INVALID_CONTEXT;
	return lost;
}
#define READY() do { int r_ = ready(); if (r_) return r_; } while (0)

CUresult cuInit(unsigned f) {
	const char *order = getenv("CUDA_DEVICE_ORDER"), *cache = getenv("CUDA_CACHE_PATH");
	CALL("cuInit", "%u order=%s cache=%s", f, order ? order : "-", cache ? cache : "-");
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	if (setting("devices", 1) == 0 || (visible && !*visible)) return NO_DEVICE;
	initialized = 1;
	return OK;
}
CUresult cuDriverGetVersion(int *v) { CALL("cuDriverGetVersion"); *v = setting("version", 12040); return OK; }
CUresult cuDeviceGetCount(int *n) { CALL("cuDeviceGetCount"); if (!initialized) return NOT_INITIALIZED; *n = setting("devices", 1); return OK; }
CUresult cuDeviceGet(int *d, int i) { CALL("cuDeviceGet", "%d", i); if (i < 0 || i >= setting("devices", 1)) return INVALID_DEVICE; *d = i; return OK; }
CUresult cuDeviceGetName(char *s, int n, int d) { CALL("cuDeviceGetName", "%d %d", n, d); snprintf(s, n, "Fake GPU %d", d); return OK; }
CUresult cuDeviceGetUuid(unsigned char *u, int d) {
	CALL("cuDeviceGetUuid", "%d", d);
	for (int i = 0; i < 16; i++) u[i] = 16 * (d + 1) + i;
	return OK;
}
// Of a device that is set to be a part of a GPU, only this function knows the part's own UUID.
CUresult cuDeviceGetUuid_v2(unsigned char *u, int d) {
	CALL("cuDeviceGetUuid_v2", "%d", d);
	for (int i = 0; i < 16; i++) u[i] = 16 * (d + 1) + i + setting("part", 0);
	return OK;
}
CUresult cuDeviceTotalMem_v2(size_t *n, int d) { CALL("cuDeviceTotalMem_v2", "%d", d); *n = setting("memory", 1 << 20); return OK; }
CUresult cuDeviceGetAttribute(int *v, int a, int d) {
	CALL("cuDeviceGetAttribute", "%d %d", a, d);
	switch (a) {
	case 16: *v = 108; return OK;
	case 75: *v = setting("major", 8); return OK;
	case 76: *v = setting("minor", 0); return OK;
	case 97: *v = 166912; return OK;
	}
	return INVALID_VALUE;
}
CUresult cuDevicePrimaryCtxSetFlags_v2(int d, unsigned f) { CALL("cuDevicePrimaryCtxSetFlags_v2", "%d %u", d, f); flags[d] = f; return OK; }
CUresult cuDevicePrimaryCtxRetain(void **c, int d) { CALL("cuDevicePrimaryCtxRetain", "%d", d); retained[d]++; *c = CONTEXT(d); return OK; }
CUresult cuDevicePrimaryCtxRelease_v2(int d) {
	CALL("cuDevicePrimaryCtxRelease_v2", "%d live=%zu", d, used);
	if (!retained[d]) return INVALID_CONTEXT;
	retained[d]--;
	return OK;
}
CUresult cuDevicePrimaryCtxReset_v2(int d) { CALL("cuDevicePrimaryCtxReset_v2", "%d", d); lost = nstream = 0; return OK; }
CUresult cuCtxSetCurrent(void *c) { CALL("cuCtxSetCurrent", "%p", c); current = c; return OK; }

// ---- the stream

#define STREAM ((void *)0x5000UL)
enum { LAUNCH, UP, DOWN, ACROSS, SET };
struct work { int kind; CUdeviceptr to, from; char *host; size_t bytes; int owned; unsigned char fill; int kernel; uint64_t args[8]; };
static struct work stream[4096], captured[4096];
static int ncaptured, capturing, broken;
static long capture_thread;

static int put(struct work w) {
	if (capturing) captured[ncaptured++] = w;
	else stream[nstream++] = w;
	return OK;
}

static int axpy(uint64_t *a) { // y, x, a, n: y += a x
	int n = (int)a[3];
	float *y = (float *)device(a[0], 4 * (size_t)n), *x = (float *)device(a[1], 4 * (size_t)n), s;
	if (!y || !x) return ILLEGAL_ADDRESS;
	memcpy(&s, &a[2], 4);
	for (int i = 0; i < n; i++) y[i] += s * x[i];
	return OK;
}

static int run(struct work *w) {
	char *to = device(w->to, w->bytes), *from = device(w->from, w->bytes);
	switch (w->kind) {
	case LAUNCH: return w->kernel == 0 ? axpy(w->args) : OK;
	case UP: if (!to) return ILLEGAL_ADDRESS; memcpy(to, w->host, w->bytes); if (w->owned) free(w->host); return OK;
	case DOWN: if (!from) return ILLEGAL_ADDRESS; memcpy(w->host, from, w->bytes); return OK;
	case ACROSS: if (!to || !from) return ILLEGAL_ADDRESS; memcpy(to, from, w->bytes); return OK;
	case SET: if (!to) return ILLEGAL_ADDRESS; memset(to, w->fill, w->bytes); return OK;
	}
	return INVALID_VALUE;
}

static int flush(void) {
	for (int i = 0; i < nstream && !lost; i++) lost = run(&stream[i]);
	nstream = 0;
	return lost;
}

// unsafe are the functions that break a capture.
#define UNSAFE()                                                                     \
	do {                                                                             \
		if (capturing && capture_thread == syscall(SYS_gettid)) { broken = 1; return CAPTURE_UNSUPPORTED; } \
	} while (0)

// The streams share one order of work.
static int nstreams;
CUresult cuStreamCreate(void **s, unsigned f) { CALL("cuStreamCreate", "%u", f); READY(); *s = (char *)STREAM + 0x100 * nstreams++; return OK; }
CUresult cuEventCreate(void **e, unsigned f) { CALL("cuEventCreate", "%u", f); READY(); *e = (void *)0xe000; return OK; }
CUresult cuEventRecord(void *e, void *s) { CALL("cuEventRecord", "%p %p", e, s); READY(); return OK; }
CUresult cuStreamWaitEvent(void *s, void *e, unsigned f) { CALL("cuStreamWaitEvent", "%p %p %u", s, e, f); READY(); return OK; }
CUresult cuEventDestroy_v2(void *e) { CALL("cuEventDestroy_v2", "%p", e); READY(); return OK; }
CUresult cuStreamDestroy_v2(void *s) { CALL("cuStreamDestroy_v2", "%p", s); READY(); nstreams--; return OK; }
CUresult cuStreamSynchronize(void *s) { CALL("cuStreamSynchronize", "%p", s); READY(); UNSAFE(); return flush(); }
// Not ready so many times, then done.
CUresult cuStreamQuery(void *s) {
	CALL("cuStreamQuery", "%p", s);
	READY();
	UNSAFE();
	for (int i = 0; i < nsettings; i++)
		if (!strcmp(settings[i].name, "busy") && settings[i].value-- > 0) return NOT_READY;
	return flush();
}
CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
	CALL("cuMemGetInfo_v2");
	READY();
	*total = setting("memory", 1 << 20);
	*free = *total - used;
	return OK;
}
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
	CALL("cuMemAlloc_v2", "%zu", n);
	READY();
	UNSAFE();
	if (!n) return INVALID_VALUE;
	if (used + n > (size_t)setting("memory", 1 << 20)) return OUT_OF_MEMORY;
	used += n;
	*p = blocks[nblocks].at = next;
	blocks[nblocks].bytes = n;
	blocks[nblocks].data = malloc(n);
	memset(blocks[nblocks++].data, 0xee, n); // a caller that needs zeros must write them
	next += (n + 511) / 256 * 256;
	return OK;
}
CUresult cuMemFree_v2(CUdeviceptr p) {
	CALL("cuMemFree_v2", "%#llx", p);
	READY();
	UNSAFE();
	for (int i = 0; i < nblocks; i++)
		if (blocks[i].data && blocks[i].at == p) {
			free(blocks[i].data);
			blocks[i].data = NULL;
			used -= blocks[i].bytes;
			return OK;
		}
	return INVALID_VALUE;
}
CUresult cuMemHostAlloc(void **p, size_t n, unsigned f) {
	CALL("cuMemHostAlloc", "%zu %u", n, f);
	READY();
	UNSAFE();
	if ((long)n > setting("host", 1 << 20)) return OUT_OF_MEMORY;
	*p = malloc(n);
	memset(*p, 0xee, n);
	pinned[npinned].data = *p;
	pinned[npinned++].bytes = n;
	return OK;
}
CUresult cuMemFreeHost(void *p) {
	CALL("cuMemFreeHost");
	READY();
	for (int i = 0; i < npinned; i++)
		if (pinned[i].data == p) {
			pinned[i].data = NULL;
			free(p);
			return OK;
		}
	return INVALID_VALUE;
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, void *s) {
	CALL("cuMemsetD8Async", "%#llx %u %zu %p", p, v, n, s);
	READY();
	return put((struct work){.kind = SET, .to = p, .fill = v, .bytes = n});
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void *h, size_t n, void *s) {
	int pin = is_pinned(h, n);
	CALL("cuMemcpyHtoDAsync_v2", "%#llx %s %zu %p", d, pin ? "pinned" : "pageable", n, s);
	READY();
	struct work w = {.kind = UP, .to = d, .host = (char *)h, .bytes = n};
	if (!pin) {
		if (capturing) return CAPTURE_UNSUPPORTED;
		w.owned = 1;
		w.host = memcpy(malloc(n), h, n);
	}
	return put(w);
}
CUresult cuMemcpyDtoHAsync_v2(void *h, CUdeviceptr d, size_t n, void *s) {
	CALL("cuMemcpyDtoHAsync_v2", "%s %#llx %zu %p", is_pinned(h, n) ? "pinned" : "pageable", d, n, s);
	READY();
	return put((struct work){.kind = DOWN, .from = d, .host = h, .bytes = n});
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, void *s) {
	CALL("cuMemcpyDtoDAsync_v2", "%#llx %#llx %zu %p", to, from, n, s);
	READY();
	return put((struct work){.kind = ACROSS, .to = to, .from = from, .bytes = n});
}

// ---- graphs

#define GRAPHS 64
static struct { struct work nodes[256]; int n, graph, exec; } graphs[GRAPHS];
static int ngraphs;

CUresult cuStreamBeginCapture_v2(void *s, int mode) {
	CALL("cuStreamBeginCapture_v2", "%p %d", s, mode);
	READY();
	capturing = 1, broken = 0, ncaptured = 0, capture_thread = syscall(SYS_gettid);
	return OK;
}
CUresult cuStreamEndCapture(void *s, void **g) {
	CALL("cuStreamEndCapture", "%p", s);
	READY();
	capturing = 0;
	*g = NULL;
	if (capture_thread != syscall(SYS_gettid)) return WRONG_THREAD;
	if (broken) return CAPTURE_INVALIDATED;
	memcpy(graphs[ngraphs].nodes, captured, ncaptured * sizeof captured[0]);
	graphs[ngraphs].n = ncaptured;
	graphs[ngraphs].graph = 1;
	*g = (void *)(0x6000UL + ngraphs++);
	return OK;
}
static int index_of(void *g, unsigned long base) { return (int)((unsigned long)g - base); }
CUresult cuGraphInstantiateWithFlags(void **e, void *g, unsigned long long f) {
	CALL("cuGraphInstantiateWithFlags", "%p %llu", g, f);
	READY();
	int i = index_of(g, 0x6000);
	if (i < 0 || i >= ngraphs || !graphs[i].graph) return INVALID_HANDLE;
	graphs[i].exec = 1;
	*e = (void *)(0x7000UL + i);
	return OK;
}
CUresult cuGraphUpload(void *e, void *s) { CALL("cuGraphUpload", "%p %p", e, s); READY(); return OK; }
CUresult cuGraphLaunch(void *e, void *s) {
	CALL("cuGraphLaunch", "%p %p", e, s);
	READY();
	int i = index_of(e, 0x7000);
	if (i < 0 || i >= ngraphs || !graphs[i].exec) return INVALID_HANDLE;
	for (int k = 0; k < graphs[i].n; k++) put(graphs[i].nodes[k]);
	return OK;
}
CUresult cuGraphDestroy(void *g) { CALL("cuGraphDestroy", "%p", g); READY(); graphs[index_of(g, 0x6000)].graph = 0; return OK; }
CUresult cuGraphExecDestroy(void *e) { CALL("cuGraphExecDestroy", "%p", e); READY(); graphs[index_of(e, 0x7000)].exec = 0; return OK; }

// ---- kernels

static char names[16][64];
static int nnames;

CUresult cuModuleLoadDataEx(void **m, const char *image, unsigned n, int *options, void **values) {
	CALL("cuModuleLoadDataEx", "%zu bytes options=%u:%d,%d,%d,%d sizes=%lu,%lu", strlen(image), n, options[0], options[1], options[2],
		options[3], (unsigned long)values[1], (unsigned long)values[3]);
	READY();
	UNSAFE();
	while (setting("compiling", 0)) usleep(1000); // until the test has seen what it waits for
	snprintf(values[0], (size_t)values[1], "0 registers");
	if (strstr(image, "nonsense")) {
		snprintf(values[2], (size_t)values[3], "ptxas application ptx input, line 7; fatal   : Parsing error\nptxas fatal   : Ptx assembly aborted");
		return INVALID_PTX;
	}
	*m = (void *)0x8000UL;
	return OK;
}
CUresult cuModuleUnload(void *m) { CALL("cuModuleUnload", "%p", m); READY(); return OK; }
CUresult cuModuleGetFunction(void **f, void *m, const char *name) {
	CALL("cuModuleGetFunction", "%p %s", m, name);
	READY();
	if (!strcmp(name, "missing")) return NOT_FOUND;
	snprintf(names[nnames], sizeof names[0], "%s", name);
	*f = (void *)(0x9000UL + nnames++);
	return OK;
}
CUresult cuFuncGetAttribute(int *v, int a, void *f) { CALL("cuFuncGetAttribute", "%d %p", a, f); READY(); *v = a == 1 ? setting("static", 0) : 10 * a; return OK; }
CUresult cuFuncSetAttribute(void *f, int a, int v) { CALL("cuFuncSetAttribute", "%p %d %d", f, a, v); READY(); return OK; }
CUresult cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
	void *s, void **params, void **extra) {
	const char *name = names[index_of(f, 0x9000)];
	struct work w = {.kind = LAUNCH, .kernel = strcmp(name, "axpy")};
	if (!w.kernel) {
		w.args[0] = *(uint64_t *)params[0];
		w.args[1] = *(uint64_t *)params[1];
		w.args[2] = *(uint32_t *)params[2];
		w.args[3] = *(uint32_t *)params[3];
		CALL("cuLaunchKernel", "%s %u,%u,%u %u,%u,%u %u %p extra=%p args %#lx %#lx %#lx %ld", name, gx, gy, gz, bx, by, bz, shared, s, (void *)extra,
			(long)w.args[0], (long)w.args[1], (long)w.args[2], (long)w.args[3]);
	} else {
		CALL("cuLaunchKernel", "%s %u,%u,%u %u,%u,%u %u %p extra=%p", name, gx, gy, gz, bx, by, bz, shared, s, (void *)extra);
	}
	READY();
	return put(w);
}

// ---- words

CUresult cuGetErrorName(CUresult r, const char **s) {
	static char name[64];
	snprintf(name, sizeof name, "CUDA_ERROR_%d", r);
	*s = name;
	return OK;
}
CUresult cuGetErrorString(CUresult r, const char **s) {
	static char words[64];
	snprintf(words, sizeof words, "words for %d", r);
	*s = words;
	return OK;
}

void fake_reset(void) {
	for (int i = 0; i < nblocks; i++) free(blocks[i].data);
	written = nfailures = nsettings = nblocks = npinned = nstream = ncaptured = ngraphs = nnames = 0;
	capturing = broken = lost = initialized = nstreams = 0;
	used = 0;
	next = BASE;
	text[0] = 0;
	memset(retained, 0, sizeof retained);
	memset(graphs, 0, sizeof graphs);
}
