// NVML without a GPU, for tests of the binding: it writes down its calls and says
// what a test has set.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

static char text[1 << 16];
static int written;
static struct { char name[32]; long value; } settings[64];
static int nsettings;

static void note(const char *format, ...) {
	va_list list;
	va_start(list, format);
	written += vsnprintf(text + written, sizeof text - written, format, list);
	written += snprintf(text + written, sizeof text - written, "\n");
	va_end(list);
}
static long setting(const char *name, long otherwise) {
	for (int i = nsettings - 1; i >= 0; i--)
		if (!strcmp(settings[i].name, name)) return settings[i].value;
	return otherwise;
}
const char *fake_log(void) { return text; }
void fake_set(const char *name, long value) {
	snprintf(settings[nsettings].name, sizeof settings[0].name, "%s", name);
	settings[nsettings++].value = value;
}
void fake_reset(void) { written = nsettings = 0; text[0] = 0; }

int nvmlInit_v2(void) { note("nvmlInit_v2"); return setting("init", OK); }
int nvmlShutdown(void) { note("nvmlShutdown"); return OK; }
const char *nvmlErrorString(int r) { return r == NOT_FOUND ? "Not Found" : "words"; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { note("nvmlSystemGetDriverVersion %u", n); snprintf(s, n, "550.54.14"); return OK; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **d) {
	note("nvmlDeviceGetHandleByUUID %s", uuid);
	if (!strncmp(uuid, "GPU-1011", 8)) *d = (void *)0xd0UL;
	else if (!strncmp(uuid, "GPU-2021", 8)) *d = (void *)0xd1UL;
	else return NOT_FOUND;
	return OK;
}
static long of(void *d, const char *what, long otherwise) {
	char name[32];
	snprintf(name, sizeof name, "%s%d", what, (int)((unsigned long)d - 0xd0));
	return setting(name, otherwise);
}
int nvmlDeviceGetUtilizationRates(void *d, unsigned *rates) {
	note("nvmlDeviceGetUtilizationRates %p", d);
	rates[0] = of(d, "busy", 37);
	rates[1] = 99;
	return of(d, "busy", 37) < 0 ? NOT_SUPPORTED : OK;
}
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) {
	note("nvmlDeviceGetMemoryInfo %p", d);
	m[0] = 1 << 20;
	m[2] = of(d, "used", 1 << 18);
	m[1] = m[0] - m[2];
	return OK;
}
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *t) { note("nvmlDeviceGetTemperature %p %d", d, sensor); *t = 61; return OK; }
int nvmlDeviceGetPowerUsage(void *d, unsigned *mw) { note("nvmlDeviceGetPowerUsage %p", d); *mw = 70500; return of(d, "power", OK); }

struct process { unsigned pid; unsigned long long memory; unsigned gpu, compute; };
#ifndef OLD
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, struct process *p) {
	note("nvmlDeviceGetComputeRunningProcesses_v3 %p room=%u", d, *n);
	int have = of(d, "processes", 0);
	for (int i = 0; i < have; i++) p[i] = (struct process){of(d, "pid", 4242) + i, i ? ~0ULL : 1 << 16, ~0U, ~0U};
	*n = have;
	return of(d, "list", OK);
}
#else
struct old { unsigned pid; unsigned long long memory; };
int nvmlDeviceGetComputeRunningProcesses(void *d, unsigned *n, struct old *p) {
	note("nvmlDeviceGetComputeRunningProcesses %p room=%u", d, *n);
	p[0] = (struct old){11, 1 << 10};
	p[1] = (struct old){12, 1 << 11};
	*n = 2;
	return OK;
}
#endif
