"""Remote sources: copies of repositories, buckets and WebDAV folders, and other servers."""
