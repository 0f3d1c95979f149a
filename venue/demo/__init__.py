"""The venue's main job, told as a story over real HTTP against a real server process."""
