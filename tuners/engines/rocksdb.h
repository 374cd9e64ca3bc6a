typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_column_family_handle_t rocksdb_column_family_handle_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
typedef struct rocksdb_writebatch_t rocksdb_writebatch_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_pinnableslice_t rocksdb_pinnableslice_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_perfcontext_t rocksdb_perfcontext_t;
typedef struct rocksdb_flushoptions_t rocksdb_flushoptions_t;
typedef struct rocksdb_mergeoperator_t rocksdb_mergeoperator_t;
typedef struct rocksdb_compactionfilter_t rocksdb_compactionfilter_t;
typedef struct rocksdb_compactionfiltercontext_t rocksdb_compactionfiltercontext_t;
typedef struct rocksdb_compactionfilterfactory_t rocksdb_compactionfilterfactory_t;

rocksdb_options_t* rocksdb_options_create(void);
void rocksdb_options_destroy(rocksdb_options_t*);
void rocksdb_get_options_from_string(const rocksdb_options_t*, const char*, rocksdb_options_t*, char**);
void rocksdb_options_enable_statistics(rocksdb_options_t*);
char* rocksdb_options_statistics_get_string(rocksdb_options_t*);
void rocksdb_options_set_merge_operator(rocksdb_options_t*, rocksdb_mergeoperator_t*);
void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t*, size_t, size_t);
rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(void*, void (*)(void*),
    rocksdb_compactionfilter_t* (*)(void*, rocksdb_compactionfiltercontext_t*), const char* (*)(void*));
void rocksdb_options_set_compaction_filter_factory(rocksdb_options_t*, rocksdb_compactionfilterfactory_t*);
rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(void*, void (*)(void*),
    char* (*)(void*, const char*, size_t, const char*, size_t, const char* const*, const size_t*, int, unsigned char*, size_t*),
    char* (*)(void*, const char*, size_t, const char* const*, const size_t*, int, unsigned char*, size_t*),
    void (*)(void*, const char*, size_t), const char* (*)(void*));

void rocksdb_options_set_create_if_missing(rocksdb_options_t*, unsigned char);
rocksdb_t* rocksdb_open(const rocksdb_options_t*, const char*, char**);
rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t*, const char*, int, const char* const*,
    const rocksdb_options_t* const*, rocksdb_column_family_handle_t**, char**);
void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t*);
void rocksdb_cancel_all_background_work(rocksdb_t*, unsigned char);
void rocksdb_close(rocksdb_t*);

void rocksdb_set_perf_level(int);
rocksdb_writeoptions_t* rocksdb_writeoptions_create(void);
void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t*);
rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char*, size_t);
void rocksdb_writebatch_destroy(rocksdb_writebatch_t*);
void rocksdb_write(rocksdb_t*, const rocksdb_writeoptions_t*, rocksdb_writebatch_t*, char**);

rocksdb_readoptions_t* rocksdb_readoptions_create(void);
void rocksdb_readoptions_destroy(rocksdb_readoptions_t*);
rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t*, const rocksdb_readoptions_t*,
    rocksdb_column_family_handle_t*, const char*, size_t, char**);
void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t*);
rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t*, const rocksdb_readoptions_t*, rocksdb_column_family_handle_t*);
void rocksdb_iter_destroy(rocksdb_iterator_t*);
void rocksdb_iter_seek(rocksdb_iterator_t*, const char*, size_t);
unsigned char rocksdb_iter_valid(const rocksdb_iterator_t*);
void rocksdb_iter_next(rocksdb_iterator_t*);
void rocksdb_iter_get_error(const rocksdb_iterator_t*, char**);
rocksdb_perfcontext_t* rocksdb_perfcontext_create(void);
void rocksdb_perfcontext_reset(rocksdb_perfcontext_t*);
char* rocksdb_perfcontext_report(rocksdb_perfcontext_t*, unsigned char);
void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t*);

rocksdb_flushoptions_t* rocksdb_flushoptions_create(void);
void rocksdb_flushoptions_set_wait(rocksdb_flushoptions_t*, unsigned char);
void rocksdb_flushoptions_destroy(rocksdb_flushoptions_t*);
void rocksdb_flush_cf(rocksdb_t*, const rocksdb_flushoptions_t*, rocksdb_column_family_handle_t*, char**);

char* rocksdb_property_value_cf(rocksdb_t*, rocksdb_column_family_handle_t*, const char*);
int rocksdb_property_int_cf(rocksdb_t*, rocksdb_column_family_handle_t*, const char*, uint64_t*);
void rocksdb_free(void*);
