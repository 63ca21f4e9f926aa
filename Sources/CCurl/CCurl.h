// libcurl for Swift, which can't call variadic functions: one wrapper for each kind of argument, and no other code.
#ifndef CCURL_H
#define CCURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Swift does not import macros with casts.
typedef enum { CCURL_BASIC, CCURL_DIGEST, CCURL_BEARER } CCurlScheme;

static inline unsigned long ccurl_scheme(CCurlScheme scheme) {
    switch (scheme) {
    case CCURL_BASIC: return CURLAUTH_BASIC;
    case CCURL_DIGEST: return CURLAUTH_DIGEST;
    default: return CURLAUTH_BEARER;
    }
}

typedef size_t (*CCurlData)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_number(CURL *transfer, CURLoption option, long value) {
    return curl_easy_setopt(transfer, option, value);
}

static inline CURLcode ccurl_set_size(CURL *transfer, CURLoption option, int64_t value) {
    return curl_easy_setopt(transfer, option, (curl_off_t)value);
}

static inline CURLcode ccurl_set_text(CURL *transfer, CURLoption option, const char *value) {
    return curl_easy_setopt(transfer, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *transfer, CURLoption option, void *value) {
    return curl_easy_setopt(transfer, option, value);
}

static inline CURLcode ccurl_set_headers(CURL *transfer, struct curl_slist *headers) {
    return curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, headers);
}

// For CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION and CURLOPT_READFUNCTION.
static inline CURLcode ccurl_set_data(CURL *transfer, CURLoption option, CCurlData function) {
    return curl_easy_setopt(transfer, option, function);
}

static inline CURLcode ccurl_set_seek(CURL *transfer, int (*function)(void *context, curl_off_t offset, int origin)) {
    return curl_easy_setopt(transfer, CURLOPT_SEEKFUNCTION, function);
}

// Called each time before a request is sent; a result other than CURL_PREREQFUNC_OK aborts it.
static inline CURLcode ccurl_set_before(
    CURL *transfer, int (*function)(void *context, char *to, char *from, int port, int ownPort)) {
    return curl_easy_setopt(transfer, CURLOPT_PREREQFUNCTION, function);
}

// Only HTTP, regardless of the URL.
static inline CURLcode ccurl_allow_http_only(CURL *transfer) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(transfer, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static inline CURLMcode ccurl_limit_connections(CURLM *transfers, long count) {
    curl_multi_setopt(transfers, CURLMOPT_MAXCONNECTS, count);
    return curl_multi_setopt(transfers, CURLMOPT_MAX_HOST_CONNECTIONS, count);
}

// The next finished transfer and its result; NULL if there is none.
static inline CURL *ccurl_next_ended(CURLM *transfers, CURLcode *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(transfers, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

static inline CURLMcode ccurl_poll(CURLM *transfers, int milliseconds) {
    return curl_multi_poll(transfers, NULL, 0, milliseconds, NULL);
}

static inline long ccurl_status(CURL *transfer) {
    long status = 0;
    return curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

static inline CURLcode ccurl_begin(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

#endif
