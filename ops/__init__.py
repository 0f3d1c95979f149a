"""Operations and the jobs that carry them: from a decoded call to a committed effect."""
