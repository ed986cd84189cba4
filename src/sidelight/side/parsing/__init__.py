"""Read what users pass: columns of labels become codes; links, blocks and ids become row numbers."""
